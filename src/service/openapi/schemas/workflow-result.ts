import { any, described, enumOf, object, orNull, ref, string } from '../../http/openapi/schema.ts'
import type { WorkflowResult } from '../../model/execution.ts'

export const runIds = {
  workflowId: described(string, 'Id of the workflow'),
  runId: described(string, 'Id of the run'),
}

/** The result of a workflow, whose `output` has this schema. */
export function workflowResult(output: object) {
  return object<WorkflowResult>({
    ...runIds,
    status: enumOf(['completed', 'failed', 'canceled', 'terminated', 'timed_out', 'continued']),
    input: described(
      any,
      'The only argument; null without arguments, an array of several. Also null if it could not be read',
    ),
    output: { ...output },
    trace: orNull(ref('TraceMeta')),
    error: described(orNull(string), 'Why the run did not complete; null if it completed or continued'),
    errorDetails: orNull(ref('ErrorDetails')),
  })
}
