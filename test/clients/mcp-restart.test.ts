/** Official clients follow a run through SIGKILL of the gateway: its store is the engine. */
import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { connectOlder, connectWithTasks } from './mcp/clients.ts'
import { test } from './mcp/fixtures.ts'
import { callFromPython } from './mcp/python.ts'

const SECONDS = 60

test('a killed gateway: another process on its port answers for the same runs', async ({
  serviceProcess,
  startService,
  serviceEnv,
}) => {
  const url = `${serviceProcess.url}/mcp`
  const seen = { polls: 0, lostPolls: 0, pythonTasks: 0, pythonLost: 0, progress: '' }
  const given = (label: string) => ({ seconds: SECONDS, label })

  const withTasks = await connectWithTasks(url, { onSent: countPolls, onLost: () => seen.lostPolls++ })
  const older = await connectOlder(url, (message) => {
    seen.progress ||= message
  })
  const ofPython = callFromPython({
    url,
    era: 'auto',
    calls: [['slow_compute', given('python')]],
    onLine: (line) => {
      if (line.startsWith('{"task"')) seen.pythonTasks++
      if (line.startsWith('{"interrupted"')) seen.pythonLost++
    },
  })
  // Its error is reported by the end of the test.
  ofPython.catch(() => {})
  // Python starts slowly, and the older client waits for the shortest time.
  await until('the client in Python follows its run', () => seen.pythonTasks > 0)
  const ofTasks = withTasks.call('slow_compute', given('tasks'))
  const ofOlder = older.call('slow_compute', given('progress')).catch(() => 'lost')
  await until('all clients follow their runs', () => seen.polls > 1 && seen.progress !== '')
  await serviceProcess.kill()
  await until('both clients of tasks miss an answer', () => seen.lostPolls > 0 && seen.pythonLost > 0)
  await startService({ env: { ...serviceEnv, SERVICE_PORT: new URL(url).port } })

  const [, workflowId = '', runId = ''] = /workflow ([^,]+), run ([^:]+)/.exec(seen.progress) ?? []
  const again = await connectOlder(url)
  let attached = await again.call('workflow_result', { workflowId, runId })
  while (attached.structuredContent?.status === 'running')
    attached = await again.call('workflow_result', { workflowId, runId })
  const tasks = await ofTasks
  const python = (await ofPython).at(-1)
  await Promise.all([older, again, withTasks].map((client) => client.close()))

  expect(attached.structuredContent).toEqual({ workflowId, runId, status: 'completed', output: 'computed progress' })
  expect(tasks.structuredContent).toMatchObject({ status: 'completed', output: 'computed tasks' })
  expect(python.structuredContent).toMatchObject({ status: 'completed', output: 'computed python' })
  expect(await ofOlder).toBe('lost')

  function countPolls(method: string): void {
    if (method === 'tasks/get') seen.polls++
  }
})
