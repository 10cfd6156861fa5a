"""What a kind of sweep provides so that its sweeps can be read, trained and gathered."""


class SweepKind:
    """A kind of sweep. A subclass is the kind; an instance is one of its sweeps while it is trained.

    A sweep is read once, here; its runs, `sweeps.runs.Run`, are trained here or by workers, who are sent the class.

    Parameters
    ----------
    sweep : object
        Of the class `sweep_type`, with an `execution` (`sweeps.options.Execution`).
    """

    # Class of the kind's sweeps, and whether its updates can be replayed as CUDA graphs.
    sweep_type = None
    graphs = False

    def __init__(self, sweep):
        self.sweep = sweep

    @classmethod
    def opened(cls, sweep, folder):
        """Open a sweep for training.

        Parameters
        ----------
        sweep : path or sweep_type
        folder : path
            Where the sweep's results are written.

        Returns
        -------
        SweepKind
        """
        return cls(sweep if isinstance(sweep, cls.sweep_type) else cls.read(sweep, folder))

    @staticmethod
    def read(path, folder):
        """Read a sweep from a file, with a folder in which to keep what is made on the way.

        Raises
        ------
        InputError
            If the file cannot be read, or a key or value in it cannot be used.
        """
        raise NotImplementedError

    def check(self, device):
        """Refuse, before any work on a device, what would fail in a run.

        Raises
        ------
        InputError
        """

    def rounds(self, results):
        """Go through the runs in rounds, of which each waits for those before.

        Parameters
        ----------
        results : mapping of str to xarray.Dataset
            Records by name of run, which grows. What stands after a ``yield`` runs only if its round is complete.

        Yields
        ------
        (str, list of Run)
            Name of the round, and its runs, each once.
        """
        raise NotImplementedError

    @staticmethod
    def prepared(run, execution, device, precision):
        """Make the model of a run with its initial weights, and what it learns.

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
            The run's, for what is kept until the record is whole.
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
        """Bring together what is finished.

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
