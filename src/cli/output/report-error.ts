/** Prints errors: what failed, why, and what to do; never a stack. */
import { styleText } from 'node:util'
import { PorticoError } from '../../client/portico-error.ts'
import { wasNotSent } from '../../shared/lib/not-sent.ts'
import type { OpenRequest } from '../connection.ts'
import { EXIT, type ExitCode, exitCodeOfError } from '../exit-code.ts'
import { Interruption, reasonOf, UsageError } from '../failures.ts'
import type { GivenSettings } from '../settings.ts'
import { adviceFor, type CommandLine, commandLineFor, repeatAdvice, waitAdvice } from './advice.ts'
import { printable, printableLines, printDocument, printNote } from './terminal.ts'

interface Report {
  exitCode: ExitCode
  /** The first line is the message. */
  lines: string[]
  advice: string | null
}

export interface ReportOptions {
  isJson: boolean
  lastBody: string | null
  /** A request that has no response yet. */
  open: OpenRequest | null
  /** The exit code if there was no response within the time of the command. */
  noResponseCode: ExitCode
  /** The flags of the command. */
  flags: GivenSettings
}

/**
 * Returns the exit code. If stdout is for programs, it gets the error as JSON:
 * the body of the response if there is one.
 */
export function reportError(error: unknown, options: Partial<ReportOptions> = {}): ExitCode {
  const { isJson = false, lastBody = null, open = null, noResponseCode = EXIT.failed, flags = {} } = options
  const { exitCode, lines, ...report } = reportOf(error, commandLineFor(flags), noResponseCode)
  const isOpen = error instanceof Interruption || (error instanceof PorticoError && error.mayHaveTakenEffect === true)
  const repeat = isOpen && open !== null ? repeatAdvice(open) : null
  // A proxy may respond because the URL is wrong.
  const advice = [repeat === null || isUnexpectedResponse(error) ? report.advice : null, repeat]
  const [message = '', ...details] = lines
  const label = exitCode === EXIT.interrupted ? '' : styleText('red', 'error: ', { stream: process.stderr })
  printNote(
    [
      `${label}${message}`,
      ...details.map((line) => `  ${line}`),
      ...advice.flatMap((lines) => (lines === null ? [] : [printableLines(lines)])),
    ].join('\n'),
  )
  if (isJson && error instanceof PorticoError) printDocument(documentOf(error, lastBody))
  return exitCode
}

function reportOf(error: unknown, portico: CommandLine, noResponseCode: ExitCode): Report {
  if (error instanceof PorticoError) return ofService(error, portico, noResponseCode)
  if (error instanceof Interruption) {
    const advice = error.run === null ? null : waitAdvice(error.run, portico)
    return { exitCode: EXIT.interrupted, lines: [error.message], advice }
  }
  const [message = '', ...more] = printableLines(error instanceof Error ? error.message : String(error)).split('\n')
  return { exitCode: error instanceof UsageError ? EXIT.usage : EXIT.failed, lines: [message, ...more], advice: null }
}

function ofService(error: PorticoError, portico: CommandLine, noResponseCode: ExitCode): Report {
  const { message, attempts = 1, available, issues = [], requestId } = error
  const details = [
    // An issue without a path is not about the body.
    ...issues.map(({ path, message }) => `${path} ${message}`.trim()).filter((issue) => !message.includes(issue)),
    ...(available === undefined || available.length === 0 ? [] : [`available: ${available.join(', ')}`]),
    ...(error.error === 'InternalError' ? [`request id: ${requestId}`] : []),
  ]
  // Nothing was sent, so its method and path do not matter.
  const isUnreachable = error.error === 'ConnectionError' && wasNotSent(error.cause) && !error.mayHaveTakenEffect
  const unreachable = `The service cannot be reached: ${reasonOf(error.cause)}`
  const times = attempts > 1 ? `, ${attempts} attempts` : ''
  return {
    exitCode: exitCodeOfError(error, noResponseCode),
    lines: [isUnreachable ? unreachable : `${message} (${error.error}${times})`, ...details].map(printable),
    advice: adviceFor(error, portico),
  }
}

/** The client finds some errors itself, such as a deadline that has passed, or a response that is not Portico's. */
function documentOf(error: PorticoError, lastBody: string | null): string {
  if (lastBody !== null && error.status !== null && !isUnexpectedResponse(error)) return lastBody
  const { error: name, message, workflowId, runId, updateId, idempotencyKey, workflowStatus, problem } = error
  const { attempts, mayHaveTakenEffect } = error
  const facts = { workflowId, runId, updateId, idempotencyKey, workflowStatus, problem, attempts, mayHaveTakenEffect }
  return JSON.stringify({ error: name, message, ...facts })
}

/** Whether the response is not Portico's. */
function isUnexpectedResponse(error: unknown): boolean {
  return error instanceof PorticoError && error.error === 'UnexpectedResponseError'
}
