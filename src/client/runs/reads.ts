/** How a handle reads its run: the same for workflows, and for activities without one. */
import type { Connection } from '../connection/connection.ts'
import type { CallOptions } from '../connection/options.ts'
import { PorticoError } from '../portico-error.ts'
import type { ActivityResult, WorkflowResult } from '../responses.ts'
import { type ActivityTarget, pathOf, type Target } from '../target.ts'
import { type Kind, resultRequest, titleOf, untilEnded, type WaitOptions } from '../wait.ts'

export function createReads<Ids, Result extends ActivityResult | WorkflowResult, Status>(
  connection: Connection,
  kind: Kind,
  target: Ids & (ActivityTarget | Target),
) {
  const { runId, isPinned, ...id } = target
  const ids = { ...id, ...(runId !== undefined && { runId }) } as Ids & { runId?: string }
  const resultSettled = (options?: WaitOptions): Promise<Result> =>
    untilEnded(connection, resultRequest(target), { kind, ...ids, isPinned }, options)
  return {
    ...ids,
    resultSettled,
    result: async (options?: WaitOptions) => outputOf(kind, await resultSettled(options)),
    status: (options?: CallOptions): Promise<Status> =>
      connection.send({ method: 'GET', path: `${pathOf(target)}/status` }, options),
  }
}

/** The output. Throws `WorkflowFailedError` or `ActivityFailedError` for a run that did not complete. */
export function outputOf(kind: Kind, result: ActivityResult | WorkflowResult): unknown {
  const { runId, status, output, error } = result
  if (status === 'completed') return output
  const title = titleOf(kind)
  const idField = `${kind}Id` as const
  const { [idField]: id } = result as Partial<Record<typeof idField, string>>
  const facts = { [idField]: id, runId, [`${kind}Status`]: status }
  const message = error ?? `${title} ${id} continued as a new run`
  throw new PorticoError(`${title}FailedError`, message, { status: null, ...facts, result })
}
