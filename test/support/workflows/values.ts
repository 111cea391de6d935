/** Workflows that return what a test needs, and ones that only take time. */
import { condition, sleep, upsertMemo, workflowInfo } from '@temporalio/workflow'

export async function echo(input: unknown): Promise<unknown> {
  return input
}

export async function several(...args: unknown[]): Promise<unknown[]> {
  return args
}

export async function nothing(): Promise<void> {}

/** A number beyond 2^53 and a long decimal, as a worker in another language would send them. */
export async function hugeNumbers(): Promise<object> {
  return { id: JSON.rawJSON('9007199254740993'), price: JSON.rawJSON('0.12345678901234567890'), plain: 1.5 }
}

export async function bigOutput({ bytes }: { bytes: number }): Promise<string> {
  return 'x'.repeat(bytes)
}

/** The workflow's own information from the engine. */
export async function whoAmI(): Promise<object> {
  const { workflowId, runId, firstExecutionRunId, workflowType, taskQueue, attempt } = workflowInfo()
  return { workflowId, runId, firstExecutionRunId, workflowType, taskQueue, attempt }
}

/** Its search attributes by name, with the types that the SDK knows them by. */
export async function ownAttributes(): Promise<object> {
  const pairs = workflowInfo().typedSearchAttributes.getAll()
  return Object.fromEntries(pairs.map(({ key: { name, type }, value }) => [name, { type, value }]))
}

export async function sleepFor({ ms }: { ms: number }): Promise<string> {
  await sleep(ms)
  return 'slept'
}

export async function neverEnds(): Promise<void> {
  await condition(() => false)
}

/** Says where its trace is, as a worker without the kit does; ends at once. */
export async function saysTrace({ trace }: { trace: unknown }): Promise<string> {
  upsertMemo({ trace })
  return 'said'
}
