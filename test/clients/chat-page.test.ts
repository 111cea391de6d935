/** The page of examples/chat/ in a browser, on another origin than the API, with a real engine behind it. */
import { WorkflowStreamClient } from '@temporalio/workflow-streams/client'
import type { BrowserContextOptions, Page, Request } from 'playwright-core'
import { expect } from 'vitest'
import { serveChatPage } from '../../dev/chat-page.ts'
import { startTcpProxy } from '../../dev/servers/tcp-proxy.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { publish } from '../faults/streams/reader.ts'
import { EXAMPLE_WORKER } from '../support/example-worker.ts'
import { test as sharedTest } from '../support/fixtures.ts'
import { newPage, PATIENT, violations, watchProblems } from './page-checks.ts'

/** Questions whose answer waits in its middle. */
const HELD = new Map(['Wait for me', 'Wait for the network'].map((it) => [it, Promise.withResolvers<void>()]))

const test = sharedTest
  .extend('workerOptions', { scope: 'file' }, () => {
    const { activities } = EXAMPLE_WORKER
    const streamAnswer = (question: string) => {
      const released = HELD.get(question)?.promise
      return released ? holdAnswer(released) : EXAMPLE_WORKER.activities.streamAnswer(question)
    }
    return { ...EXAMPLE_WORKER, activities: { ...activities, streamAnswer } }
  })
  .extend('chatPage', { scope: 'file' }, async ({ cleanup }) => {
    const ending = new AbortController()
    cleanup.defer(() => ending.abort())
    return serveChatPage(ending.signal)
  })
  .extend('serviceEnv', { scope: 'file' }, ({ chatPage }) => ({ SERVICE_CORS_ORIGINS: chatPage.origins }))
  /** Opens the page. `problems`: errors on the console, and requests to other hosts. */
  .extend(
    'open',
    { scope: 'file' },
    ({ browser, chatPage, serviceProcess }) =>
      async (options: BrowserContextOptions = {}) => {
        await until('the catalog is published', async () => (await fetch(`${serviceProcess.url}/workflow/catalog`)).ok)
        const page = await newPage(browser, options)
        const problems = watchProblems(page, [chatPage.url, serviceProcess.url])
        await page.goto(`${chatPage.url}?api=${serviceProcess.url}`)
        return { page, problems }
      },
  )

test('chat page: shows the answer while it is written, and its whole text in the end', PATIENT, async ({ open }) => {
  const { page, problems } = await open()
  await page.evaluate(watchAnswer)

  await ask(page, 'What is a stream?')
  await ended(page)
  const lengths = await page.evaluate<number[]>('lengths')
  const shown = await answerOf(page)
  const { output } = await resultOf(page)
  await page.close()

  expect(output).toContain('What is a stream?')
  expect(shown).toBe(output)
  // In many steps, each longer than the one before.
  expect(lengths.length).toBeGreaterThan(10)
  expect(lengths).toEqual(lengths.toSorted((one, other) => one - other))
  expect(problems).toEqual([])
})

test('chat page: reloaded in the middle, it shows each word once, and after the end too', PATIENT, async ({ open }) => {
  const { page, problems } = await open()
  const held = 'Wait for me'

  await ask(page, held)
  await shows(page, 'one two ')
  await page.reload()
  await shows(page, 'one two ')
  const isBusy = await page.locator('#answer').getAttribute('aria-busy')
  const question = await page.locator('#question').inputValue()
  HELD.get(held)?.resolve()
  await ended(page)
  const live = await answerOf(page)
  await page.reload()
  await ended(page)
  const later = await answerOf(page)
  await page.close()

  expect([isBusy, question]).toEqual(['true', held])
  expect([live, later]).toEqual(['one two three four', 'one two three four'])
  expect(problems).toEqual([])
})

test(
  "a browser's EventSource whose connection is lost resumes after the last item by itself, and misses nothing",
  PATIENT,
  async ({ open, serviceProcess, cleanup }) => {
    const proxy = await startTcpProxy(new URL(serviceProcess.url).host)
    cleanup.defer(() => proxy.close())
    const question = 'Wait for the network'
    const { workflowId } = (await serviceProcess.start('chat', { question })).body
    const { page } = await open()
    const requests: Request[] = []
    page.on('request', (request) => request.url().endsWith('/stream') && requests.push(request))

    await page.evaluate(openStream(`http://${proxy.address}/workflow/${workflowId}/stream`))
    await page.waitForFunction('items.length >= 2')
    proxy.interrupt()
    await publish(serviceProcess, workflowId, { text: 'meanwhile ' })
    proxy.restore()
    await page.waitForFunction('items.length >= 3')
    HELD.get(question)?.resolve()
    await page.waitForFunction('source.readyState === EventSource.CLOSED')
    const items = await page.evaluate<{ id: string; text: string }[]>('items')
    const headers = await Promise.all(requests.map((request) => request.allHeaders()))
    await page.close()

    expect(items.map(({ text }) => text)).toEqual(['one ', 'two ', 'meanwhile ', 'three ', 'four'])
    // It may try more than once while the connection is interrupted. After `done` it connects again, and gets a 204.
    const resumedFrom = new Set(headers.map((sent) => sent['last-event-id']))
    expect([...resumedFrom]).toEqual([undefined, items[1]?.id, expect.stringMatching(/@end$/)])
  },
)

test.for(['light', 'dark'] as const)(
  'chat page: is accessible on a small screen in %s colors',
  PATIENT,
  async (colorScheme, { open }) => {
    const { page, problems } = await open({ colorScheme, viewport: { width: 320, height: 568 } })

    await ask(page, 'What is a stream?')
    await ended(page)
    const found = await violations(page)
    const width = await page.evaluate('document.documentElement.scrollWidth')
    const background = await page.evaluate(
      'getComputedStyle(document.documentElement).colorScheme + matchMedia("(prefers-color-scheme: dark)").matches',
    )
    await page.close()

    expect(found).toEqual([])
    expect(width).toBe(320)
    expect(background).toBe(`light dark${colorScheme === 'dark'}`)
    expect(problems).toEqual([])
  },
)

test('chat page: says why a run has no answer', PATIENT, async ({ open }) => {
  const { page } = await open()

  await page.evaluate('location.hash = "unknown-run"')
  await page.waitForSelector('#state:has-text("Workflow unknown-run not found")')
  const { workflowId } = await started(page, { workflowName: 'greet', input: { name: 'Ada' } })
  await page.evaluate(`location.hash = "${workflowId}"`)
  await page.waitForSelector('#state:has-text("This answer cannot be read.")')
  await page.close()
})

/** Publishes half of the answer, and the rest once `released`. */
async function holdAnswer(released: Promise<void>): Promise<string> {
  await using stream = WorkflowStreamClient.fromWithinActivity()
  const tokens = stream.topic<{ text: string }>('tokens')
  for (const text of ['one ', 'two ']) tokens.publish({ text })
  await stream.flush()
  await released
  for (const text of ['three ', 'four']) tokens.publish({ text })
  return 'one two three four'
}

/** Runs in the page: collects the length of the answer after each change of its text. */
const watchAnswer = `
  lengths = []
  new MutationObserver(() => lengths.push(document.querySelector('#answer').textContent.length))
    .observe(document.querySelector('#answer'), { childList: true })
`

/** Runs in the page: collects the items, and leaves it to the EventSource when to connect. */
const openStream = (url: string) => `
  items = []
  source = new EventSource('${url}')
  source.addEventListener('item', ({ data, lastEventId }) => items.push({ id: lastEventId, ...JSON.parse(data).data }))
`

async function ask(page: Page, question: string): Promise<void> {
  await page.fill('#question', question)
  await page.click('button')
}

async function shows(page: Page, text: string): Promise<void> {
  await page.waitForFunction(`document.querySelector('#answer').textContent === ${JSON.stringify(text)}`)
}

async function ended(page: Page): Promise<void> {
  await page.waitForSelector('#state:has-text("The run is completed.")')
}

async function answerOf(page: Page): Promise<string | null> {
  return page.locator('#answer').textContent()
}

async function started(page: Page, body: object): Promise<{ workflowId: string }> {
  const api = new URL(page.url()).searchParams.get('api')
  const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }
  return (await fetch(`${api}/workflow/start`, init)).json()
}

async function resultOf(page: Page): Promise<{ output: string }> {
  const url = new URL(page.url())
  const response = await fetch(`${url.searchParams.get('api')}/workflow/${url.hash.slice(1)}/result`)
  return response.json()
}
