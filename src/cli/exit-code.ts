import type { PorticoError } from '../client/portico-error.ts'

/** What the exit codes of the commands mean. `docs/cli.md` lists them. */
export const EXIT = {
  completed: 0,
  failed: 1,
  /** The command line, the settings or the request is wrong: the same command cannot succeed. */
  usage: 2,
  /** The service or what it needs does not respond or is at a limit, or no worker has published the catalog. */
  unreachable: 3,
  /** No result in time: the workflow runs, or no worker has responded to a query or an update. */
  timedOut: 4,
  /** Ctrl-C: 128 and the number of SIGINT. */
  interrupted: 130,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** The errors of the API (`docs/errors.md`) and of the client with an exit code of their own. */
const EXIT_OF_ERROR = new Map<PorticoError['error'], ExitCode>([
  ['ValidationError', EXIT.usage],
  ['InvalidPageTokenError', EXIT.usage],
  ['UnauthorizedError', EXIT.usage],
  ['NotFoundError', EXIT.usage],
  ['ConnectionError', EXIT.unreachable],
  ['UnexpectedResponseError', EXIT.unreachable],
  ['CatalogNotAvailableError', EXIT.unreachable],
  ['EngineError', EXIT.unreachable],
  ['EngineUnavailableError', EXIT.unreachable],
  ['OutcomeUnknownError', EXIT.unreachable],
  ['OverloadedError', EXIT.unreachable],
  ['PayloadCodecError', EXIT.unreachable],
  ['ResourceExhaustedError', EXIT.unreachable],
  ['ResultUnreadableError', EXIT.unreachable],
  ['TooManyRequestsError', EXIT.unreachable],
  ['AuthUnavailableError', EXIT.unreachable],
  ['DeadlineExceededError', EXIT.timedOut],
  ['RequestTimeoutError', EXIT.timedOut],
  ['ActivityExecutionTimedOutError', EXIT.timedOut],
  ['ActivityNotCompletedError', EXIT.timedOut],
  ['WorkflowExecutionTimedOutError', EXIT.timedOut],
  ['WorkflowNotCompletedError', EXIT.timedOut],
])

/** `noResponseCode` is for an error of the client itself: there was no response in time. */
export function exitCodeOfError({ error, status }: PorticoError, noResponseCode: ExitCode): ExitCode {
  if (error === 'DeadlineExceededError' && status === null) return noResponseCode
  return EXIT_OF_ERROR.get(error) ?? EXIT.failed
}

/** The exit code for a workflow result. Only a run that completed, or continued as another one, is a success. */
export function exitCodeOfStatus(status: unknown): ExitCode {
  return status === 'completed' || status === 'continued' ? EXIT.completed : EXIT.failed
}
