/** What the exit codes of the commands mean. `docs/cli.md` lists them. */
export const EXIT = {
  completed: 0,
  failed: 1,
  /** The command line, the settings or the request is wrong: the same command cannot succeed. */
  usage: 2,
  /** The service, the engine behind it or a worker does not respond: the same command may succeed later. */
  unreachable: 3,
  timedOut: 4,
  /** Ctrl-C: 128 and the number of SIGINT. */
  interrupted: 130,
} as const
