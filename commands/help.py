"""The help of the command line: groups of commands, panels of options, and examples."""

from typer.core import TyperCommand, TyperGroup

EXAMPLES = """\
fit --data runs.csv --out fit.nc
fit chinchilla --data runs.csv --out chinchilla.nc
fit chinchilla --data runs.csv --group corpus --out groups.nc
fit 'loss ~ E + A*tokens**-a' --data runs.csv --out formula.nc
ask formula.nc 'loss at tokens = 1e12' 'tokens where loss = 2.2' a
fit progress-7 --out progress.nc
fit horizons --data successes.csv --out horizons.nc
fit trend --data prices.csv --out trend.nc
fit scores --data scores.csv --option pace=linear --out scores.nc
ask hoffmann-2022 'best N, D for 6*N*D = 1e22'
laws
laws krajewski-2024
show fit.nc
show fit.nc --constants
show fit.nc chinchilla.nc --json
show progress.nc --compute 1e25 --year 2023
show horizons.nc --table all --share 0.8 --until 2030
show trend.nc --reach 0.1 --until 2030
show scores.nc --table ranks
check fit.nc
check fit.nc --no-wider --json
predict fit.nc --parameters 7B --tokens 140B
predict fit.nc --parameters 1B --parameters 3B --tokens 100B
allocate fit.nc --compute 1e24
allocate fit.nc --compute 10kH100-hours --gpu-hour 2
allocate fit.nc --loss 2.1 --demand 1T --beyond none
design fit.nc --budget 1e21 --compute 1e24
design fit.nc --budget 20PF-days --compute 1e24 --no-gate
worth groups.nc --baseline c4 --compute 1e21
worth groups.nc --baseline c4 --compute 1e19:1e23:5 --switch 1e20
worth speedrun_runs --baseline BosAlign --where "step == 1750"
plot fit fit.nc --out fit.svg
plot valley fit.nc --compute 1e24 --out valley.html
plot compare fit.nc chinchilla.nc --out compare.png
report
report --data runs.csv --out mine
report fit.nc chinchilla.nc --out mine
curve train.log --until 24000 --below 2.9
curve train.log --until 24k --schedule cosine:peak=3e-4,final=3e-5
curve 'logs/*.log' --until 24000 --watch
compare fit.nc chinchilla.nc
compare fit.nc chinchilla.nc --weighting rollout
compare progress
rollout coupled --data runs.csv --below 1e20
rollout progress-7 --by date --below 2019-06-30 --figure dates.svg
calibrate chinchilla --data runs.csv --out ranks.nc
calibrate chinchilla --truth prior --simulations 20
points
points --data runs.csv --where 'lr > 1e-4' --drop-highest 5
reconcile fit.nc
reconcile fit.nc --vocabulary 50257
reconcile sweep
forecast fit.nc --plan parameters=7e9 --plan tokens=1e11 --out log
forecast scores.nc --at 2027-01 --out log
score-forecast log/*-runs-*.json --later new.csv
train sweep.toml --out sweep --dry-run
train sweep.toml --out sweep --device cuda --time-limit 3600
train-sample sweep --prompt 'Once upon a time' --tokens 20
arithmetic sums.toml --out sums --dry-run
arithmetic sums.toml --out sums --device cuda
arithmetic-check sums
arithmetic-check sums --offset 10 --longest 40 --every 5
gpu-check --out check
gpu-check --out check --minutes 5 --device cuda:1
data
data chinchilla_runs
data chinchilla_runs --notes
cache
cache --clear
""".splitlines()


class Group(TyperGroup):
    """The command line."""

    def format_commands(self, context, formatter):
        """Write the commands by group, each with the first sentence of its help."""
        width = max(map(len, self.commands))
        groups = {}
        for name, command in self.commands.items():
            line = command.get_short_help_str(formatter.width)
            groups.setdefault(command.rich_help_panel, []).append((f"{name:{width}}", line))
        for group, lines in groups.items():
            with formatter.section(group):
                formatter.write_dl(lines)


class Command(TyperCommand):
    """A command."""

    def format_options(self, context, formatter):
        """Write arguments, options, and options of a panel below its name."""
        panels = {"Arguments": [], "Options": []}
        for parameter in self.get_params(context):
            panel = "Arguments" if parameter.param_type_name == "argument" else None
            panel = panel or getattr(parameter, "rich_help_panel", None) or "Options"
            name, text = parameter.get_help_record(context)
            name = name.partition(" <")[0] if panel == "Arguments" else name  # its type is in its name
            panels.setdefault(panel, []).append((name, text))
        for panel, records in panels.items():
            if records:
                with formatter.section(panel):
                    formatter.write_dl(records)

    def format_epilog(self, context, formatter):
        """Write the examples."""
        with formatter.section("Examples"):
            lines = (line for line in EXAMPLES if line.split()[0] == self.name)
            formatter.write("".join(f"  bayescaling {line}\n" for line in lines))
