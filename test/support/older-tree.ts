/** A trace as workers of the older generation store it: a step with an HTTP request in it, and a child workflow. */
export function olderTree(
  runId: string,
  { startedAt = 1000, endedAt = 2000 as number | null, output = 'done' as unknown, step = 'order#charge' } = {},
) {
  const node = (id: string, kind: string, name: string, at: number, more: object = {}) => ({
    ...{ id, kind, name, startedAt: at, endedAt: at + 10 },
    ...{ children: [], attributes: {}, ...more },
  })
  return {
    id: runId,
    kind: 'workflow',
    name: 'order',
    startedAt,
    endedAt,
    input: { orderId: '17' },
    output: { __output_workflow_wrapper_version: 1, output, trace: { destinations: { local: '/logs/run.json' } } },
    children: [
      node('1', 'step', step, startedAt + 10, {
        input: { amount: 4 },
        output: 'charged',
        children: [
          node('http-1', 'http', 'request', startedAt + 11, {
            output: { status: 500 },
            attributes: { http_request_count: { type: 'http_request_count', value: 1 } },
          }),
        ],
      }),
      node('2', 'evaluator', 'order#judge', startedAt + 20, {
        error: {
          name: 'FatalError',
          message: 'not good',
          stack: 'FatalError: not good\n    at /srv/app/evaluators.js:3:9',
          cause: { name: 'TypeError', message: 'x is undefined', stack: 'at /srv/app/x.js' },
        },
      }),
      node('child-run', 'workflow', 'ship', startedAt + 30, {
        output: { __output_workflow_wrapper_version: 1, output: 'shipped' },
        children: [node('1', 'step', 'ship#send', startedAt + 31, { output: 'sent' })],
      }),
    ],
    attributes: {},
  }
}
