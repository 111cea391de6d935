import type { PorticoError } from '../../client/portico-error.ts'
import { shellWord } from './shell-word.ts'

export const START_ADVICE = 'Start the service with "npx portico dev", or say where it is with --url or PORTICO_URL.'

const WAIT_ADVICE = (id: string) => `The workflow keeps running. Wait for it: portico result ${id}`

const ADVICE = new Map<string, string | ((id: string) => string)>([
  ['ConnectionError', WAIT_ADVICE],
  ['UnexpectedResponseError', 'Check --url, PORTICO_URL or .portico.json: the address of Portico with its base path.'],
  ['UnauthorizedError', 'Set PORTICO_TOKEN, or "token" in .portico.json, to a token of the service.'],
  ['WorkflowNotFoundError', '"portico list" shows the runs.'],
  ['UnsupportedWorkflowError', '"portico catalog" lists the workflows. --catalog names another catalog.'],
  ['CatalogNotFoundError', 'Start the worker, or name its catalog (task queue) with --catalog.'],
  ['CatalogNotAvailableError', 'Start the worker, or name its catalog (task queue) with --catalog.'],
  ['WorkflowExecutionTimedOutError', WAIT_ADVICE],
  ['WorkflowNotCompletedError', (id) => `Wait for it: portico result ${id}`],
  ['WorkflowAlreadyStartedError', (id) => `See what it does: portico explain ${id}`],
  ['EngineUnavailableError', (id) => `It may have been carried out. Check it: portico status ${id}`],
])

/** After a start, a signal or an update that may have been carried out. */
export function repeatAdvice(key: string): string {
  return `It may have been carried out. Repeat the command with --key ${shellWord(key)}, so that nothing is done twice.`
}

/** What to do about the error; null if the message says all. */
export function adviceFor(error: PorticoError): string | null {
  return joined([explainAdvice(error.workflowId, error), adviceByName(error)])
}

/** After Ctrl-C while a run is open. */
export function waitAdvice(workflowId: string, state: RunState): string | null {
  return joined([explainAdvice(workflowId, state), WAIT_ADVICE(shellWord(workflowId))])
}

interface RunState extends Partial<Pick<PorticoError, 'workflowStatus' | 'problem'>> {
  /** The name of an error. */
  error?: string
}

/** The run cannot take a query or an update now. */
const NOT_READY: readonly string[] = ['DeadlineExceededError', 'WorkflowNotReadyError']

/** For a run that makes no progress by itself, or cannot take a message. */
function explainAdvice(
  workflowId: string | undefined,
  { error = '', workflowStatus, problem }: RunState,
): string | null {
  const isStuck = problem !== undefined || workflowStatus === 'paused' || NOT_READY.includes(error)
  return isStuck && workflowId !== undefined ? `See what it waits for: portico explain ${shellWord(workflowId)}` : null
}

/** Errors of the service after which a start, a signal or an update may have been carried out. */
const MAY_BE_CARRIED_OUT: readonly string[] = ['DeadlineExceededError', 'EngineUnavailableError']

function adviceByName({ error, status, workflowId, idempotencyKey }: PorticoError): string | null {
  if (status !== null && idempotencyKey !== undefined && MAY_BE_CARRIED_OUT.includes(error))
    return repeatAdvice(idempotencyKey)
  const advice = ADVICE.get(error)
  if (typeof advice !== 'function') return advice ?? null
  if (workflowId === undefined) return error === 'ConnectionError' ? START_ADVICE : null
  return advice(shellWord(workflowId))
}

function joined(lines: (string | null)[]): string | null {
  return lines.filter((line) => line !== null).join('\n') || null
}
