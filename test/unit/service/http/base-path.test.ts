import { expect, test } from 'vitest'
import { makeApi, rejecting, running } from './api.ts'
import { RUN_ID } from './run-api.ts'

const workflows = {
  start: async () => ({ workflowId: 'a/b', runId: 'r' }),
  run: rejecting('WorkflowExecutionTimedOutError', 'later', { workflowId: 'w' }),
  status: async () => running,
}
const body = { workflowName: 'echo', input: 1 }

test('base path: only health and readiness need no token', async () => {
  const { call } = makeApi({ workflows, auth: { tokens: ['s3cret'] }, mount: { basePath: '/health' } })
  const paths = ['/health/health', '/health', '/health/workflow/w/status', '/workflow/w/status']

  const answers = await Promise.all(paths.map((path) => call('GET', path)))

  expect(answers.map(({ status }) => status)).toEqual([200, 401, 401, 401])
})

test('base path: a framework may have removed it', async () => {
  const { call } = makeApi({ workflows, mount: { basePath: '/portico', mayBeStripped: true } })

  const answers = [await call('POST', '/workflow/start', body), await call('POST', '/portico/workflow/start', body)]

  expect(answers.map(({ headers }) => headers.get('Location'))).toEqual(Array(2).fill('/portico/workflow/a%2Fb/result'))
})

test('base path: every Location is absolute where the address for clients is known, also of a namespace', async () => {
  const mount = { basePath: '/portico', publicUrl: 'https://api.example.com/portico' }
  const update = { workflowId: 'w', runId: RUN_ID, updateId: 'u' }
  const { call } = makeApi({
    workflows: {
      ...workflows,
      result: rejecting('WorkflowExecutionTimedOutError', 'later', { workflowId: 'w', retryAfterSeconds: 1 }),
      update: rejecting('OutcomeUnknownError', 'later', { ...update, stage: 'accepted' }),
      startUpdate: async () => update,
    },
    mount,
  })

  const answers = [
    await call('POST', '/portico/workflow/start', body),
    await call('POST', '/portico/namespaces/default/workflow/run', body),
    await call('POST', '/portico/workflow/run', body, { Prefer: 'respond-async, wait=1' }),
    await call('POST', '/portico/workflow/w/update/set', {}, { Prefer: 'respond-async' }),
    await call('POST', '/portico/workflow/w/update/set', {}),
    await call('GET', '/portico/workflow/w/result?wait=1s'),
    await call('GET', '/portico/workflow/w/result?wait=1s&pending=202'),
  ]

  expect(answers.map(({ headers }) => headers.get('Location'))).toEqual([
    'https://api.example.com/portico/workflow/a%2Fb/result',
    'https://api.example.com/portico/namespaces/default/workflow/w/result',
    'https://api.example.com/portico/workflow/w/result?pending=202',
    ...Array(2).fill(`https://api.example.com/portico/workflow/w/runs/${RUN_ID}/update/set/u`),
    'https://api.example.com/portico/workflow/w/result',
    'https://api.example.com/portico/workflow/w/result?pending=202',
  ])
  expect(answers.map(({ status }) => status)).toEqual([200, 424, 202, 202, 424, 424, 202])
})
