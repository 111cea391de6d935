/** What all commands that call the service share: settings, Ctrl-C, output, exit code. */
import { type Connection, connect } from './connection.ts'
import { EXIT, type ExitCode } from './exit-code.ts'
import { Interruption, UnreachableError } from './failures.ts'
import { printDocument, printLines } from './output/print.ts'
import { reportError } from './output/report-error.ts'
import { type GivenSettings, readSettings, type Settings } from './settings.ts'

/** Flags of every command. */
export interface CommonFlags extends GivenSettings {
  /** Prints JSON on a terminal too. */
  json?: boolean
}

export interface Command extends Connection {
  settings: Settings
  /** Aborts on Ctrl-C. */
  signal: AbortSignal
  /** Prints the last response: the body itself as JSON, and on a terminal what `render` makes of it. Returns 0. */
  show<T>(value: T, render: (exact: T) => string): ExitCode
}

// Reading takes the service at most 5 s, and the engine's history a little longer.
export const READ_TIMEOUT_MS = 30_000

/** Runs a command and sets the exit code. */
export async function callService(flags: CommonFlags, act: (command: Command) => Promise<ExitCode>): Promise<void> {
  const isJson = flags.json === true || !process.stdout.isTTY
  const stopping = new AbortController()
  const interrupt = () => stopping.abort(new Interruption())
  process.once('SIGINT', interrupt)
  let connection: Connection | undefined
  try {
    const settings = await readSettings(flags, process.env, process.cwd())
    connection = connect(settings, (cause) => stopping.abort(new UnreachableError(settings.url, cause)))
    const { exact, lastBody } = connection
    const show = <T>(value: T, render: (exact: T) => string) => {
      if (isJson) printDocument(lastBody() ?? JSON.stringify(value))
      else printLines(render(exact(value)))
      return EXIT.completed
    }
    process.exitCode = await act({ ...connection, settings, signal: stopping.signal, show })
  } catch (error) {
    process.exitCode = reportError(error, { isJson, lastBody: connection?.lastBody() ?? null })
  } finally {
    process.removeListener('SIGINT', interrupt)
  }
}
