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
  ['DeadlineExceededError', (id) => `See what it waits for: portico explain ${id}`],
  ['WorkflowNotReadyError', (id) => `See what it waits for: portico explain ${id}`],
  ['EngineUnavailableError', (id) => `It may have been carried out. Check it: portico status ${id}`],
])

/** After a start, a signal or an update without a response. */
export function repeatAdvice(key: string): string {
  return `It may have been carried out. Repeat the command with --key ${shellWord(key)}, so that nothing is done twice.`
}

/** What to do about the error; null if the message says all. */
export function adviceFor({ error, workflowId }: PorticoError): string | null {
  const advice = ADVICE.get(error)
  if (typeof advice !== 'function') return advice ?? null
  if (workflowId === undefined) return error === 'ConnectionError' ? START_ADVICE : null
  return advice(shellWord(workflowId))
}
