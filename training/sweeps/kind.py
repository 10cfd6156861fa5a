"""What a kind of sweep provides so that its sweeps can be read, trained and gathered."""

from ..engine.hardware import chosen_precision
from ..engine.memory import check_fits


class SweepKind:
    """A kind of sweep. A subclass is the kind; an instance is one of its sweeps while it is trained.

    The process that trains a sweep reads it once. Its runs, `sweeps.runs.Run`, are trained in that process or by
    workers, to which the class is sent.

    Parameters
    ----------
    sweep : object
        An instance of `sweep_type`, with an attribute `execution` (`sweeps.options.Execution`).
    """

    # The class of the kind's sweeps, and whether their updates can be replayed as CUDA graphs.
    sweep_type = None
    graphs = False

    def __init__(self, sweep):
        self.sweep = sweep

    @classmethod
    def opened(cls, sweep, folder, where):
        """Open a sweep for training.

        Parameters
        ----------
        sweep : path or sweep_type
        folder : path
            Where the sweep's results are written.
        where : engine.hardware.Where
            What the runs' results depend on where they are trained, which becomes a part of their names.

        Returns
        -------
        SweepKind
        """
        sweep = sweep if isinstance(sweep, cls.sweep_type) else cls.read(sweep, folder)
        return cls(sweep.settled(where))

    @staticmethod
    def read(path, folder):
        """Read a sweep from a file; what is derived from it, such as tokens, is kept in a folder.

        Raises
        ------
        InputError
            If the file cannot be read, or a key or value in it cannot be used.
        """
        raise NotImplementedError

    def check(self, device):
        """Refuse, before anything is trained, what would fail on a device: by default what does not fit into it.

        Raises
        ------
        InputError
        """
        for run in {run.name: run for runs in self.groups().values() for run in runs}.values():
            self.check_run(run, self.sweep.execution, device, chosen_precision(run.precision, device))

    @classmethod
    def check_run(cls, run, execution, device, precision):
        """Refuse a run that does not fit into the free memory of a device.

        Raises
        ------
        InputError
        """
        check_fits(cls.bytes_of(run, execution, device, precision), device, *cls.largest(run))

    @staticmethod
    def largest(run):
        """Say in words what of a run needs memory, and what to give where it is too much.

        Returns
        -------
        (str, str)
        """
        raise NotImplementedError

    def groups(self):
        """Give the runs of each arm or stage, for an outline of the sweep; a rate that is yet to be found is any.

        Returns
        -------
        dict of str to list of Run
        """
        raise NotImplementedError

    @staticmethod
    def bytes_of(run, execution, device, precision):
        """Estimate the memory that a run takes on a device, in bytes."""
        raise NotImplementedError

    def rounds(self, results):
        """Give the runs in rounds, each of which waits for those before it.

        Parameters
        ----------
        results : mapping of str to xarray.Dataset
            Records by name of run; it grows meanwhile. The generator is resumed after a round only if all of its runs
            are there.

        Yields
        ------
        (str, list of Run)
            Name of the round, and its runs, each once.
        """
        raise NotImplementedError

    @staticmethod
    def prepared(run, execution, device, precision):
        """Make the model of a run with its initial weights, and the task that it learns.

        Parameters
        ----------
        run : Run
        execution : Execution
        device : torch.device
        precision : str

        Returns
        -------
        (torch.nn.Module, engine.loop.Task)

        Raises
        ------
        InputError
            If the run cannot be trained on the device.
        """
        raise NotImplementedError

    @staticmethod
    def recorded(run, outcome, model, folder, device, precision, guard):
        """Make the record of a run that is trained.

        Parameters
        ----------
        run : Run
        outcome : engine.loop.Outcome
            Finished or diverged.
        model : torch.nn.Module
        folder : path
            The run's folder, for results that are kept until the record is complete.
        device : torch.device
        precision : str
        guard : engine.guard.Guard

        Returns
        -------
        xarray.Dataset or None
            None if the guard stopped it.
        """
        raise NotImplementedError

    def gathered(self, planned, results):
        """Gather the finished runs.

        Parameters
        ----------
        planned : mapping of str to Run
            Runs by name, in the order of the rounds so far.
        results : mapping of str to xarray.Dataset

        Returns
        -------
        tuple
            An xarray.Dataset, and tables (pandas.DataFrame) by name of file.
        """
        raise NotImplementedError
