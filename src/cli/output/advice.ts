import type { PorticoError } from '../../client/portico-error.ts'
import type { OpenRequest } from '../connection.ts'
import { PROGRAM } from '../program-name.ts'
import type { GivenSettings } from '../settings.ts'

/** A command as the user can enter it. */
export type CommandLine = (command: string) => string

/** Commands for the service and the namespace that flags named. The token must not appear on the terminal. */
export function commandLineFor({ url, namespace }: GivenSettings): CommandLine {
  const flags = Object.entries({ url, namespace })
    .filter(([, value]) => typeof value === 'string')
    .map(([name, value]) => ` --${name} ${shellWord(String(value))}`)
  return (command) => `${PROGRAM} ${command}${flags.join('')}`
}

const START_ADVICE = `Start the service with "${PROGRAM} dev", or set its URL with --url or PORTICO_URL.`

const WORKER_ADVICE = () => 'Start the worker, or name its catalog (task queue) with --catalog.'

const PUBLISH_ADVICE = (portico: CommandLine) =>
  `Start a worker that publishes its catalog (docs/protocol.md), or name it with --catalog. A worker without a catalog executes workflows too: ${portico('run <workflow>')}`

const URL_ADVICE = () =>
  'Check --url, PORTICO_URL or .portico.json: the address of Portico with its base path; and the namespace.'

const ADVICE = new Map<string, (portico: CommandLine) => string>([
  ['NotFoundError', URL_ADVICE],
  ['UnexpectedResponseError', URL_ADVICE],
  [
    'UnauthorizedError',
    () => 'Set PORTICO_TOKEN, or "token" beside "url" in .portico.json, to a token of the service.',
  ],
  ['WorkflowNotFoundError', (portico) => `"${portico('list')}" shows the runs.`],
  [
    'UnsupportedWorkflowError',
    (portico) => `"${portico('catalog')}" lists the workflows. --catalog names another catalog.`,
  ],
  ['CatalogNotFoundError', PUBLISH_ADVICE],
  ['CatalogNotAvailableError', WORKER_ADVICE],
])

const WAIT_ADVICE = (portico: CommandLine, id: string) =>
  `The workflow keeps running. Wait for it: ${portico(`result ${id}`)}`

const ADVICE_ABOUT_RUN = new Map<string, (portico: CommandLine, id: string) => string>([
  ['ConnectionError', WAIT_ADVICE],
  ['WorkflowExecutionTimedOutError', WAIT_ADVICE],
  ['WorkflowNotCompletedError', (portico, id) => `Wait for it: ${portico(`result ${id}`)}`],
  ['WorkflowAlreadyStartedError', (portico, id) => `See what it does: ${portico(`explain ${id}`)}`],
])

/** After a start, a signal or an update that may have been carried out. */
export function repeatAdvice({ key, runId }: OpenRequest): string {
  const flags = `${runId === null ? '' : `--run ${shellWord(runId)} `}--key ${shellWord(key)}`
  return `It may have been carried out. Repeat the command with ${flags}, so that nothing is done twice.`
}

/** After a bulk with lines that must not simply be sent again. `missing`: the indices of those without an answer. */
export function linesAdvice(missing: readonly number[], key: string): string {
  const ranges: { from: number; to: number }[] = []
  for (const index of missing) {
    const last = ranges.at(-1)
    if (last !== undefined && last.to === index) last.to++
    else ranges.push({ from: index + 1, to: index + 1 })
  }
  const shown = ranges.map(({ from, to }) => (from === to ? from : `${from}-${to}`)).join(', ')
  return `No answer: line ${shown}. They may have been carried out: docs/api/bulk.md says which can be sent again. The key of line 1 is ${key}:0.`
}

/** What to do about the error; null if the message is enough. */
export function adviceFor(error: PorticoError, portico: CommandLine): string | null {
  return joined([explainAdvice(error, portico), adviceByName(error, portico)])
}

/** After Ctrl-C while a run is open. */
export function waitAdvice(
  run: (RunState & { workflowId: string }) | { activityId: string },
  portico: CommandLine,
): string | null {
  if ('activityId' in run)
    return `The activity keeps running. Wait for it: ${portico(`activity result ${shellWord(run.activityId)}`)}`
  return joined([explainAdvice(run, portico), WAIT_ADVICE(portico, shellWord(run.workflowId))])
}

interface RunState extends Partial<Pick<PorticoError, 'workflowId' | 'workflowStatus' | 'problem'>> {
  /** The name of an error. */
  error?: string
}

/** The run cannot take a query or an update now. */
const NOT_READY: readonly string[] = ['DeadlineExceededError', 'WorkflowNotReadyError']

/** For a run that makes no progress by itself, or cannot take a message. */
function explainAdvice(
  { error = '', workflowId, workflowStatus, problem }: RunState,
  portico: CommandLine,
): string | null {
  const isStuck = problem !== undefined || workflowStatus === 'paused' || NOT_READY.includes(error)
  if (!isStuck || workflowId === undefined) return null
  return `See what it waits for: ${portico(`explain ${shellWord(workflowId)}`)}`
}

function adviceByName(
  { error, workflowId, runId, mayHaveTakenEffect }: PorticoError,
  portico: CommandLine,
): string | null {
  const id = workflowId === undefined ? null : shellWord(workflowId)
  if (mayHaveTakenEffect && id !== null) return `Check what it has done: ${portico(`status ${id}`)}`
  const aboutRun = ADVICE_ABOUT_RUN.get(error)
  // Without a run id nothing has said that there is a run.
  if (id !== null && aboutRun !== undefined && (runId !== undefined || error !== 'ConnectionError'))
    return aboutRun(portico, id)
  return error === 'ConnectionError' ? START_ADVICE : (ADVICE.get(error)?.(portico) ?? null)
}

function joined(lines: (string | null)[]): string | null {
  return lines.filter((line) => line !== null).join('\n') || null
}

/** The value as one word of a POSIX shell. */
export function shellWord(value: string): string {
  return /^[\w.:/@%+=-]+$/.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`
}
