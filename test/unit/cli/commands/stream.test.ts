/** `portico stream`, with a server of the test's own. */
import { expect, onTestFinished, test, vi } from 'vitest'
import { until } from '../../../../src/cli/dev/servers/until.ts'
import { runCli } from '../../../../src/cli/run-cli.ts'
import { createStreamLog } from '../../../support/stream-replicas.ts'

const RUN_ID = '01a208f4-a730-742e-81e9-92b88320ed51'

/** Runs the command until it ends. `act` is called when the server has its request. */
async function portico(log: ReturnType<typeof createStreamLog>, args: string[], act = () => log.finish()) {
  const replica = await log.startReplica()
  onTestFinished(() => replica.close())
  const written = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    vi.spyOn(process[name], 'write').mockImplementation((text) => {
      written[name] += text
      return true
    })
  const before = process.exitCode
  onTestFinished(() => {
    process.exitCode = before
    vi.restoreAllMocks()
  })
  const ended = runCli([...args, '--url', replica.url])
  await Promise.race([ended, until('it is connected', async () => log.readers.size > 0)])
  act()
  await ended
  const code = process.exitCode
  return { ...written, code, urls: replica.requests.map(({ url }) => url) }
}

test('portico stream: prints the data of an item on one line, strings without quotes', async () => {
  const log = createStreamLog()
  log.publish('t', 'one\ntwo \u001b[31m', { a: [1] }, null)

  const { stdout, stderr, code } = await portico(log, ['stream', 'w', '--text'])

  expect(stdout).toBe('one\\u000atwo \\u001b[31m\n{"a":[1]}\nnull\n')
  expect([stderr, code]).toEqual(['', 0])
})

test('portico stream: for programs prints each item as a line of JSON, with exact numbers', async () => {
  const log = createStreamLog()
  log.publish('t', 'a', JSON.rawJSON('9007199254740993.10'))

  const json = await portico(log, ['stream', 'w', '--json'])

  expect(json.stdout).toBe(
    `{"offset":0,"topic":"t","data":"a","id":"${RUN_ID}@0"}\n{"offset":1,"topic":"t","data":9007199254740993.10,"id":"${RUN_ID}@1"}\n`,
  )
})

test('portico stream: sends the topics, the place, the run and the namespace', async () => {
  const log = createStreamLog()
  log.publish('b', 1)
  const flags = ['--topic', 'a', '--topic', 'b', '--from', 'now', '--run', RUN_ID, '--namespace', 'acme']

  const { stdout, urls } = await portico(log, ['stream', 'w', ...flags])

  expect(urls).toEqual([`/namespaces/acme/workflow/w/runs/${RUN_ID}/stream?topic=a&topic=b&from=now`])
  expect(stdout).toBe('')
})

test.for([
  ['completed', 0],
  ['continued', 0],
  ['failed', 1],
  ['terminated', 1],
] as const)('portico stream: the exit code says how the run has ended: %s, %i', async ([status, expected]) => {
  const log = createStreamLog()

  const { code } = await portico(log, ['stream', 'w'], () => log.finish(status))

  expect(code).toBe(expected)
})

test('portico stream: says on stderr what is missing, and where the stream begins again', async () => {
  const log = createStreamLog()
  const problem = { kind: 'workflow_task_failing', message: 'a bug', attempt: 3 }

  const { stdout, stderr } = await portico(log, ['stream', 'w'], () => {
    const failing = { workflowId: 'w', runId: RUN_ID, status: 'running', from: 0, problem }
    log.send('workflow', failing)
    log.send('workflow', failing)
    log.send('truncated', { from: 0, to: 5 })
    log.send('truncated', { from: 7, to: 8 })
    log.send('continued', { workflowId: 'w', runId: 'r2', continuedFrom: RUN_ID })
    log.send('continued', { workflowId: 'w', runId: 'r3', continuedFrom: 'r2', reset: true })
    log.finish('failed', false)
  })

  expect(stdout).toBe('')
  expect(stderr.split('\n')).toEqual([
    'w is running, workflow task failing (attempt 3): a bug',
    'Items 0 to 4 are lost.',
    'Item 7 is lost.',
    'The workflow continues in run r2.',
    'The workflow continues in run r3; its stream begins again at 0.',
    'The run has ended: failed. There may be more items: no worker has responded.',
    '',
  ])
})

test('portico stream: the exit code of an error is that of other commands', async () => {
  const log = createStreamLog()
  const error = { status: 404, error: 'StreamNotFoundError', message: 'Workflow w has no stream' }

  const { stdout, stderr, code } = await portico(log, ['stream', 'w'], () =>
    log.send('server_error', error, `${RUN_ID}@end`),
  )

  expect(stderr).toContain('error: Workflow w has no stream (StreamNotFoundError)')
  expect(JSON.parse(stdout)).toMatchObject({ error: 'StreamNotFoundError' })
  expect(code).toBe(1)
})

test('portico stream: Ctrl-C exits with 130 and says that the workflow keeps running', async () => {
  const log = createStreamLog()

  const { stderr, code } = await portico(log, ['stream', 'w'], () => void process.emit('SIGINT'))

  expect(code).toBe(130)
  expect(stderr).toMatch(/The workflow keeps running\. Wait for it: .*portico result w /)
})
