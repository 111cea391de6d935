/** What workers of the older generation say in the end of a run. */
import { ServiceError } from '../domain/errors.ts'
import type { TraceMeta } from '../domain/execution.ts'
import { toTraceMeta } from '../domain/trace/trace-meta.ts'
import { isObject } from '../lib/is-object.ts'
import { unwrapWorkflowOutput } from '../protocol/older-wrapper.ts'
import type { Failure } from './failure.ts'
import type { Payloads } from './payload.ts'

export interface WorkflowOutput {
  output: unknown
  /** Null when the output is not wrapped, or its wrapper does not say. */
  trace: TraceMeta | null
}

/** What a workflow returned, without the wrapper that may be around it. */
export function toWorkflowOutput(value: unknown): WorkflowOutput {
  const { output, trace } = unwrapWorkflowOutput(value)
  return { output, trace: toTraceMeta(trace) }
}

// As deep as a chain of causes is shown.
const MAX_CAUSES = 10

/** Where the details of a failure, or of one of its causes, say that the trace is. Never rejects for what cannot be decoded. */
export async function traceInDetails(failure: Failure, payloads: Pick<Payloads, 'decode'>): Promise<TraceMeta | null> {
  const details = chainOf(failure).flatMap(
    ({ applicationFailureInfo }) => applicationFailureInfo?.details?.payloads ?? [],
  )
  if (details.length === 0) return null
  try {
    const found = (await payloads.decode(details)).find((detail) => isObject(detail) && isObject(detail.trace))
    return isObject(found) ? toTraceMeta(found.trace) : null
  } catch (error) {
    // How the run ended is known without its details.
    if (error instanceof ServiceError) return null
    throw error
  }
}

function chainOf(failure: Failure): Failure[] {
  const chain = [failure]
  for (let next = failure.cause; next && chain.length <= MAX_CAUSES; next = next.cause) chain.push(next)
  return chain
}
