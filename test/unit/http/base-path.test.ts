import { expect, test } from 'vitest'
import { makeApi, rejecting, running } from './api.ts'

const workflows = {
  start: async () => ({ workflowId: 'a/b', runId: 'r' }),
  run: rejecting('WorkflowExecutionTimedOutError', 'later', { workflowId: 'w' }),
  status: async () => running,
}
const body = { workflowName: 'echo', input: 1 }

const { call } = makeApi({ workflows, mount: { basePath: '/apis/portico' } })

test('base path: every route is below it, including health, and nowhere else', async () => {
  const paths = [
    '/apis/portico/health',
    '/apis/portico/workflow/w/status',
    '/health',
    '/workflow/w/status',
    '/apis/porticos/health',
    '/apis',
  ]

  const answers = await Promise.all(paths.map((path) => call('GET', path)))

  expect(answers.map(({ status }) => status)).toEqual([200, 200, 404, 404, 404, 404])
  expect(await answers[2]?.json()).toMatchObject({ error: 'NotFoundError', message: 'Route /health not found' })
})

test('base path: every Location begins with it', async () => {
  const started = await call('POST', '/apis/portico/workflow/start', body)
  const timedOut = await call('POST', '/apis/portico/workflow/run', body)

  expect(started.headers.get('Location')).toBe('/apis/portico/workflow/a%2Fb/result')
  expect([timedOut.status, timedOut.headers.get('Location')]).toEqual([408, '/apis/portico/workflow/w/result'])
})

test('base path: OPTIONS lists methods below it', async () => {
  expect((await call('OPTIONS', '/apis/portico/workflow/run')).headers.get('Allow')).toBe('POST')
  expect((await call('GET', '/apis/portico/workflow/run')).status).toBe(405)
})

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
