/** The workers of docs/streams.md, pasted from the page, and of examples/streams/ in Python, and their streams. */
import { readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { startProcess } from '../../dev/servers/process.ts'
import { untilPolled } from '../../dev/servers/worker.ts'
import { eventsIn } from '../support/event-stream.ts'
import { test as baseTest } from '../support/fixtures.ts'
import { namedFiles } from '../support/markdown.ts'
import { startPythonWorker } from '../support/python-worker.ts'

const STORY = 'Once upon a time there was a workflow, and it lived happily ever after.'
const WORDS = STORY.split(/(?<= )/)

const page = await readFile(new URL('../../docs/streams.md', import.meta.url), 'utf8')

const test = baseTest
  /** Runs the story of a worker on this task queue, as the page says, and reads its stream to the end. */
  .extend('readStory', { scope: 'file' }, ({ serve }) => async (taskQueue: string) => {
    const service = serve()
    const workflowId = `story-${crypto.randomUUID()}`
    const start = { workflowName: 'story', catalog: taskQueue, workflowId, input: 'a workflow' }
    await service.call('POST', '/workflow/start', start)
    const stream = await service.fetch(new Request(`http://portico/workflow/${workflowId}/stream`))
    const events = eventsIn(await stream.text())
    const { body: result } = await service.call('GET', `/workflow/${workflowId}/result`)
    return { items: events.filter(({ event }) => event === 'item'), done: events.at(-1), output: result.output }
  })
  /** A program of the page for this engine and this task queue. */
  .extend('adapted', { scope: 'file' }, ({ engine }) => (program: string, taskQueue: string) => {
    return program.replaceAll('localhost:7233', engine.address).replaceAll(/(['"])stories\1/g, `'${taskQueue}'`)
  })

const READ = {
  items: WORDS.map((text, offset) => expect.objectContaining({ data: { offset, topic: 'tokens', data: { text } } })),
  done: expect.objectContaining({
    event: 'done',
    data: expect.objectContaining({ status: 'completed', next: WORDS.length, complete: true }),
  }),
  output: STORY,
}

test('streams from TypeScript: the worker of the page publishes each word once', async ({
  connection,
  folder,
  cleanup,
  adapted,
  readStory,
}) => {
  const taskQueue = `typescript-${crypto.randomUUID()}`
  for (const [name, program] of namedFiles(page)) await writeFile(join(folder, name), adapted(program, taskQueue))
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  await symlink(fileURLToPath(new URL('../../node_modules', import.meta.url)), join(folder, 'node_modules'))
  const worker = await startProcess({ command: process.execPath, args: ['worker.ts'], cwd: folder })
  cleanup.defer(async () => void (await worker.kill()))
  await untilPolled(connection, 'default', taskQueue, 'activities')

  expect(await readStory(taskQueue)).toEqual(READ)
})

test('streams from Python: the worker of the page publishes each word once', async ({
  engine: { address },
  folder,
  cleanup,
  adapted,
  readStory,
}) => {
  const taskQueue = `python-${crypto.randomUUID()}`
  const script = join(folder, 'worker.py')
  const program = await readFile(new URL('../../examples/streams/worker.py', import.meta.url), 'utf8')
  await writeFile(script, adapted(program, taskQueue))
  const worker = await startPythonWorker({ address, taskQueue, script })
  cleanup.defer(() => worker.stop())

  expect(await readStory(taskQueue)).toEqual(READ)
})
