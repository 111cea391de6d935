import { expect, test } from 'vitest'
import { JsonRpcError } from '../../../../../../src/service/fronts/mcp/rpc-error.ts'
import { parseTaskId, taskIdOf } from '../../../../../../src/service/fronts/mcp/tasks/tasks.ts'

const runId = '01a20cdc-7f73-7485-8a11-b95c90e3c290'

test.for(['orders-17', 'a/b', 'a%2Fb', 'ünï 日本語 \n"', "!'()*~._-", '__proto__'])(
  'taskIdOf: the id of a run of %j fits into a header, and is parsed again',
  (workflowId) => {
    const taskId = taskIdOf({ workflowId, runId })

    expect(taskId).toMatch(/^[\w%.~/-]+$/)
    expect(parseTaskId(taskId)).toEqual({ workflowId, runId })
  },
)

test.for([
  ['nothing', undefined],
  ['not a string', 7],
  ['an empty string', ''],
  ['no run id', 'orders-17'],
  ['no workflow id', runId],
  ['an empty workflow id', `/${runId}`],
  ['a run id that is not a UUID', 'orders-17/run-1'],
  ['a third part', `orders-17/${runId}/x`],
  ['a position in its events', `orders-17/${runId}@7`],
  ['its end', `orders-17/${runId}@end`],
  ['an encoding that is not valid', `%zz/${runId}`],
  ['another encoding of the same id', `%6Frders-17/${runId}`],
  ['another spelling of the run id', `orders-17/${runId.toUpperCase()}`],
  ['an id that is reserved', `%24catalog%3Aorders/${runId}`],
  ['an id of the engine', `temporal-sys-scheduler%3Anightly/${runId}`],
] as const)('parseTaskId: %s is an unknown task (threat 94)', ([, taskId]) => {
  const parse = () => parseTaskId(taskId)

  expect(parse).toThrow(JsonRpcError)
  expect(parse).toThrow(expect.objectContaining({ code: -32602 }))
})
