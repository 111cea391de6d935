/** What all commands that call the service share: settings, Ctrl-C, output, exit code. */
import { PorticoError } from '../client/portico-error.ts'
import { connectToService, type ServiceConnection } from './connection.ts'
import { EXIT, type ExitCode } from './exit-code.ts'
import { Interruption } from './failures.ts'
import { reportError } from './output/report-error.ts'
import {
  type OutputFlags,
  printable,
  printDocument,
  printLines,
  printNote,
  printsJson,
  showWaiting,
} from './output/terminal.ts'
import { type GivenSettings, readSettings, type Settings } from './settings.ts'

/** Flags of every command. */
export interface CommonFlags extends GivenSettings, OutputFlags {
  /** Whether tables may be wider than the terminal. */
  wide?: boolean
  /** `--timeout` as it was given, for messages. Only some commands have it. */
  timeout?: string
}

export interface Command extends ServiceConnection {
  settings: Settings
  /** Aborts on Ctrl-C. */
  signal: AbortSignal
  /** Whether stdout is for programs. */
  isJson: boolean
  /** The maximum width of tables. */
  columns: number
  /**
   * Shows on a terminal's stderr what the command waits for, and why a request is repeated, until the returned function
   * is called. `note` is called for each update of the line.
   */
  wait(what: string, note?: () => string): () => void
  /** Prints the last response: the body as JSON or, on a terminal, the result of `render`. Returns 0. */
  show<T>(value: T, render: (value: T) => string): ExitCode
}

// For interactive use: somebody waits for the output. The service retries calls to the engine itself.
const RETRY_MS = 10_000

/** For commands that wait for a run anyway: a deployment of the service must not end them. */
export const WAIT_RETRY_MS = 300_000

// A request that does not wait takes the service at most 5 s.
export const READ_TIMEOUT_MS = 30_000

interface CallServiceOptions {
  /** How long a request is repeated while the service does not respond. */
  retryMs?: number
  /** The exit code if there was no response within the time of the command. */
  noResponseCode?: ExitCode
}

/** Runs a command and sets the exit code. */
export async function callService(
  flags: CommonFlags,
  act: (command: Command) => Promise<ExitCode>,
  { retryMs = RETRY_MS, noResponseCode = EXIT.unreachable }: CallServiceOptions = {},
): Promise<void> {
  const isJson = printsJson(flags)
  // If stdout is a pipe to a pager, the width is that of the terminal of stderr.
  const columns = flags.wide ? undefined : (process.stdout.columns ?? process.stderr.columns)
  const stopping = new AbortController()
  const interrupt = () => stopping.abort(new Interruption())
  process.once('SIGINT', interrupt)
  let connection: ServiceConnection | undefined
  try {
    const settings = await readSettings(flags, process.env, process.cwd())
    if (settings.withheldToken !== null) printNote(printable(settings.withheldToken))
    connection = connectToService(settings, retryMs)
    const { lastBody, retried } = connection
    const show = <T>(value: T, render: (exact: T) => string) => {
      if (isJson) printDocument(lastBody() ?? JSON.stringify(value))
      else printLines(render(value))
      return EXIT.completed
    }
    const wait = (what: string, note = () => '') => {
      const reason = () => (retried() === null ? '' : `: ${retried()?.message}`)
      return showWaiting(what, () => note() + reason())
    }
    process.exitCode = await act({
      ...connection,
      settings,
      signal: stopping.signal,
      isJson,
      columns: columns || Number.POSITIVE_INFINITY,
      wait,
      show,
    })
  } catch (error) {
    process.exitCode = reportError(inGivenWords(error, flags.timeout), {
      isJson,
      lastBody: connection?.lastBody() ?? null,
      open: connection?.open() ?? null,
      noResponseCode,
      flags,
    })
  } finally {
    for (const warning of connection?.warnings() ?? []) printNote(printable(`warning: ${warning}`))
    process.removeListener('SIGINT', interrupt)
  }
}

/** Replaces the milliseconds in the client's message with the timeout as it was given. */
function inGivenWords(error: unknown, timeout: string | undefined): unknown {
  if (error instanceof PorticoError && error.status === null && timeout !== undefined)
    error.message = error.message.replace(
      /\bwithin \d+ ms\b/,
      `within ${/^\d+$/.test(timeout) ? `${timeout} ms` : timeout}`,
    )
  return error
}
