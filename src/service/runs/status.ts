import { toSingleValue } from '../../shared/wire/execution.ts'
import { REDACTED, redactSecrets } from '../../shared/wire/secret-names.ts'
import { readPublished } from '../catalog/catalogs.ts'
import type { Call } from '../model/call.ts'
import type { RunInput } from '../model/commands.ts'
import { hasErrorName } from '../model/errors.ts'
import {
  type ActivityProgress,
  type Description,
  type Heartbeats,
  type OnRun,
  rejectReserved,
  type UserValues,
} from '../model/execution.ts'
import type { WorkflowStatus } from '../model/workflow-status.ts'
import type { Ports } from '../ports.ts'

export async function readStatus(
  ports: Pick<Ports, 'catalogs' | 'engine'>,
  { ref }: OnRun,
  call: Call,
): Promise<WorkflowStatus> {
  const run = await ports.engine.describe(ref, call)
  return toWorkflowStatus(ports, run, (await run.failingTask?.problem(call)) ?? null, call)
}

export async function toWorkflowStatus(
  ports: Pick<Ports, 'catalogs'>,
  run: Description,
  problem: WorkflowStatus['problem'],
  call: Call,
): Promise<WorkflowStatus> {
  const { workflowId, runId, workflowName, catalog, status, startedAt, completedAt, historyLength, parent } = run
  const { workerVersion, executionTimeoutMs, runTimeoutMs } = run
  // A run whose workflow name is reserved belongs to the workers.
  const hasValues = (run.userValues ?? run.heartbeats) !== undefined && !workflowName.startsWith('$')
  const isMasked = (hasValues || problem !== null) && (await readPublished(ports, run, call)).redacted
  return {
    ...{ workflowId, runId, workflowName, catalog, status, startedAt, completedAt, historyLength },
    problem: problem && isMasked ? { ...problem, message: REDACTED } : problem,
    ...(hasValues ? await readValues(run, isMasked, call) : WITHOUT_VALUES),
    ...{ parent, workerVersion, executionTimeoutMs, runTimeoutMs },
  }
}

type ShownValues = Pick<WorkflowStatus, 'details' | 'memo' | 'progress' | 'searchAttributes' | 'summary'>

const WITHOUT_VALUES: ShownValues = { progress: null, memo: {}, searchAttributes: {}, summary: null, details: null }

/** All values are masked if the workers redact their traces: only the workers know which ones are secret. */
async function readValues(run: Description, isMasked: boolean, call: Call): Promise<ShownValues> {
  const { userValues: { memo, texts, searchAttributes } = NO_VALUES, heartbeats } = run
  if (isMasked) {
    return {
      progress: toProgress(heartbeats, () => REDACTED),
      memo: masked(memo.names),
      searchAttributes: masked(Object.keys(searchAttributes)),
      ...toTexts(texts?.names, () => REDACTED),
    }
  }
  const [memoValues, details, said] = await Promise.all([
    decoded(memo.decode, 'memoUnread', call),
    heartbeats === undefined ? null : decoded(heartbeats.decode, 'progressUnread', call),
    texts === undefined ? null : decoded(texts.decode, 'textsUnread', call),
  ])
  return {
    progress: toProgress(heartbeats, (at) => redactSecrets(details?.[at] ?? null)),
    memo: memoValues && withoutSecrets(Object.fromEntries(memo.names.map((name, at) => [name, memoValues[at]]))),
    searchAttributes: withoutSecrets(searchAttributes),
    ...toTexts(texts?.names, (at) => said?.[at]),
  }
}

function toTexts(
  names: readonly string[] = [],
  valueAt: (at: number) => unknown,
): Pick<WorkflowStatus, 'details' | 'summary'> {
  const textOf = (name: string) => {
    const value = valueAt(names.indexOf(name))
    return names.includes(name) && typeof value === 'string' ? value : null
  }
  return { summary: textOf('summary'), details: textOf('details') }
}

const NO_VALUES: UserValues = { memo: { names: [], decode: async () => [] }, searchAttributes: {} }

/** Null if the values cannot be decoded: the status is useful without them. */
async function decoded(decode: () => Promise<unknown[]>, noteName: string, call: Call): Promise<unknown[] | null> {
  try {
    return await decode()
  } catch (error) {
    if (!hasErrorName(error, 'PayloadCodecError')) throw error
    call.note({ [noteName]: error })
    return null
  }
}

function toProgress(heartbeats: Heartbeats | undefined, detailsOf: (at: number) => unknown): ActivityProgress[] | null {
  return heartbeats?.activities.map((activity, at) => ({ ...activity, details: detailsOf(at) })) ?? null
}

function masked(names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, REDACTED]))
}

function withoutSecrets(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return redactSecrets(values) as Record<string, unknown>
}

export async function readInput(
  { engine }: Pick<Ports, 'engine'>,
  { ref: { workflowId, runId: pinned } }: OnRun,
  call: Call,
): Promise<RunInput> {
  // The start event of a run that was created by a reset does not name that run.
  const { runId } = pinned === undefined ? await engine.describe({ workflowId }, call) : { runId: pinned }
  const { workflowName, args } = await engine.input({ workflowId, runId }, call)
  rejectReserved({ workflowId, workflowName })
  return { workflowId, runId, input: toSingleValue(args), args }
}
