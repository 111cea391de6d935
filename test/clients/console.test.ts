/** The console in a browser, with a real engine behind it: docs/api/service.md, Console. */
import { createHash } from 'node:crypto'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { expect } from 'vitest'
import * as z from 'zod'
import * as activities from '../../examples/activities.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { defineCatalog } from '../../src/worker/index.ts'
import { makeApi } from '../support/api.ts'
import { test as sharedTest } from '../support/fixtures.ts'
import type * as workflows from './console-workflows.ts'
import { newPage, PATIENT, violations, watchProblems } from './page-checks.ts'

const OPERATOR = 'first+secret/token=='
const VIEWER = 'second+secret/token=='

const catalog = defineCatalog<typeof workflows>({
  greet: { description: 'Greets somebody.', input: z.object({ name: z.string().min(1) }), output: z.string() },
  order: {
    description: 'Ships an order. Above 100 it waits for approval.',
    input: z.object({ orderId: z.string().min(1), amount: z.number(), card: z.string() }),
    signals: { approve: { input: z.object({ by: z.string().min(1) }) } },
  },
  refund: {},
  pair: {},
  steps: { input: z.number() },
})

const RULES = [
  {
    name: 'viewer',
    who: { token: [`sha256:${createHash('sha256').update(VIEWER).digest('hex')}`] },
    can: ['read', 'list'],
  },
]

const test = sharedTest
  .extend('workerOptions', { scope: 'file' }, () => ({
    workflowsPath: new URL('./console-workflows.ts', import.meta.url),
    activities: { ...activities, validate: async () => {} },
    catalog,
  }))
  .extend('serviceEnv', { scope: 'file' }, () => ({ SERVICE_CONSOLE_ON: 'true' }))
  .extend('guardedService', { scope: 'file' }, ({ startService, worker: _ }) =>
    startService({
      env: {
        SERVICE_CONSOLE_ON: 'true',
        SERVICE_HOST: '127.0.0.1',
        SERVICE_BASE_PATH: '/portico',
        SERVICE_API_AUTH_TOKEN: OPERATOR,
        SERVICE_POLICY: JSON.stringify({ version: 1, rules: RULES }),
      },
    }),
  )

test.beforeAll(async ({ serviceProcess, guardedService: _ }) => {
  await until('the catalog is published', async () => (await fetch(`${serviceProcess.url}/workflow/catalog`)).ok)
})

test(
  'console: a run is found, followed by keyboard, approved, and ends on its page',
  PATIENT,
  async ({ browser, serviceProcess }) => {
    const { url, start } = apiOf(serviceProcess)
    const workflowId = `order-${crypto.randomUUID()}`
    await start('order', { orderId: '1', amount: 250, card: '4242' }, { workflowId })
    const { page, problems } = await open(browser, `${url}/console`)

    await page.getByRole('link', { name: workflowId }).click()
    await page.getByRole('button', { name: 'Send approve…' }).waitFor()
    await page.getByText('Waiting for a message for').waitFor()
    const listed = page.url()
    const tree = page.getByRole('tree', { name: 'Steps of the run' })
    await tree.focus()
    await page.keyboard.press('ArrowDown')
    const chosen = page.getByRole('treeitem', { selected: true })
    await expect.poll(() => chosen.innerText()).toContain('validate')
    await page.getByRole('region', { name: 'Details of validate' }).waitFor()
    const waiting = await violations(page)
    await page.getByRole('button', { name: 'Send approve…' }).press('Enter')
    const form = page.getByRole('form', { name: 'Signal approve' })
    await form.getByRole('button', { name: 'Send signal' }).press('Enter')
    await form.getByText('is required').or(form.getByText('must have at least 1 character')).waitFor()
    await form.getByLabel('by').fill('Ada')
    await form.getByLabel('by').press('Enter')
    await page.getByRole('heading', { name: 'order' }).locator('..').getByText('Completed').waitFor()
    const actions = await page.getByRole('button', { name: /^(Stop|Terminate)/ }).count()
    const ended = await violations(page)
    await page.reload()
    await page.getByText('Completed in').waitFor()
    await page.close()

    expect(new URL(listed).searchParams.get('id')).toBe(workflowId)
    expect([waiting, ended, actions]).toEqual([[], [], 0])
    // The request that the workflow's schema rejects.
    expect(problems).toEqual([expect.stringContaining('400 (Bad Request)')])
  },
)

test(
  'console: one press starts one run, and what is not valid is shown at its field',
  PATIENT,
  async ({ browser, serviceProcess }) => {
    const { url } = apiOf(serviceProcess)
    const { page, problems } = await open(browser, `${url}/console/start`)
    const started: Promise<string>[] = []
    page.on('response', (response) => {
      if (response.url().endsWith('/workflow/run') && response.ok())
        started.push(response.json().then(({ runId }) => runId))
    })

    await page.getByRole('link', { name: /^greet/ }).click()
    const form = page.getByRole('form', { name: 'Start greet' })
    await form.getByRole('button', { name: 'Run' }).click()
    await form.getByRole('alert').waitFor()
    const focused = await form.getByLabel('name').evaluate((field) => field === document.activeElement)
    const rejected = await violations(page)
    await form.getByLabel('name').fill('Ada')
    // Faster than the page can draw, as if the browser had sent the request again.
    await form.getByRole('button', { name: 'Run' }).evaluate((button: HTMLButtonElement) => {
      for (let press = 0; press < 2; press++) button.form?.requestSubmit(button)
    })
    await expect.poll(() => started.length).toBe(2)
    const result = page.getByRole('region', { name: 'Result' })
    await result.getByText('"Hello, Ada!"').waitFor()
    const answered = await violations(page)
    await result.getByRole('link', { name: 'Show the run' }).click()
    await page.getByText('Completed in').waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: 'Start a workflow' }).waitFor()
    await page.close()

    expect([focused, rejected, answered]).toEqual([true, [], []])
    expect(new Set(await Promise.all(started)).size).toBe(1)
    expect(problems).toEqual([expect.stringContaining('400 (Bad Request)')])
  },
)

test(
  'console: an id may have slashes, quotes and markup; another one like it has all arguments',
  PATIENT,
  async ({ browser, serviceProcess }) => {
    const { url, call } = apiOf(serviceProcess)
    const workflowId = `a/b?c=<img src=x onerror=alert(1)>&d="'#%2F${crypto.randomUUID()}`
    const body = `{"workflowName": "pair", "workflowId": ${JSON.stringify(workflowId)}, "args": [{"a": 1}, 12345678901234567890]}`
    await call('POST', '/workflow/run', body)
    const { page, problems } = await open(browser, `${url}/console/run?${new URLSearchParams({ id: workflowId })}`)

    await page.getByRole('heading', { name: 'pair' }).first().waitFor()
    await page.getByRole('link', { name: 'Start another like it' }).click()
    const form = page.getByRole('form', { name: 'Start pair' })
    await expect.poll(() => form.getByLabel('Further arguments').inputValue()).toContain('12345678901234567890')
    const request = page.waitForRequest((one) => one.method() === 'POST')
    await form.getByRole('button', { name: 'Run' }).click()
    const sent = await request
    await page.getByRole('region', { name: 'Result' }).waitFor()
    const images = await page.locator('img').count()
    await page.close()

    expect(sent.postData()?.replace(/\s/g, '')).toContain('"args":[{"a":1},12345678901234567890]')
    expect([images, problems]).toEqual([0, []])
  },
)

test(
  'console: a question is answered once, and whoever is late sees that',
  PATIENT,
  async ({ browser, serviceProcess }) => {
    const { url, start, get } = apiOf(serviceProcess)
    const { body: run } = await start('refund', undefined, { args: [] })
    const search = '/console/questions?to=finance'
    const [one, other] = await Promise.all([open(browser, url + search), open(browser, url + search)])
    const cardOf = (page: Page) =>
      page.getByRole('article', { name: 'Refund 250 EUR?' }).filter({ hasText: run.workflowId })
    await Promise.all([one, other].map(({ page }) => cardOf(page).waitFor()))
    await one.page.getByRole('link', { name: /^Questions ?\d/ }).waitFor()
    const asking = await violations(one.page)

    // The second page keeps what it has read.
    await setHidden(other.page, true)
    await answer(one.page, 'true')
    await cardOf(one.page)
      .getByText(/^Answered/)
      .waitFor()
    await answer(other.page, 'false')
    await cardOf(other.page).getByText('Another answer to this question was recorded').waitFor()
    const { body } = await get(`${run.workflowId}/result?wait=20s`)
    await Promise.all([one.page.close(), other.page.close()])

    expect(body.output).toMatchObject({ approved: true })
    expect([asking, one.problems]).toEqual([[], []])
    expect(other.problems).toEqual([expect.stringContaining('409 (Conflict)')])

    async function answer(page: Page, approved: string): Promise<void> {
      await cardOf(page).getByLabel('approved').selectOption(approved)
      await cardOf(page).getByRole('button', { name: 'Answer' }).click()
    }
  },
)

test(
  'console: a token that may only read sees no action, and is kept for the tab only (threat 62)',
  PATIENT,
  async ({ browser, guardedService }) => {
    const { url } = guardedService
    const { start } = makeApi({ url, token: OPERATOR })
    const workflowId = `order-${crypto.randomUUID()}`
    await start('order', { orderId: '1', amount: 250, card: '4242' }, { workflowId })
    const { page, problems } = await open(browser, `${url}/console/run?id=${workflowId}`)

    await signIn(page, 'wrong')
    await page.getByRole('alert').getByText('not valid').waitFor()
    const asking = await violations(page)
    await signIn(page, VIEWER)
    await page.getByText('token:viewer').waitFor()
    await page.getByText('Send signal approve').waitFor()
    const buttons = await page.getByRole('button').allInnerTexts()
    const links = await page.getByRole('link').allInnerTexts()
    const places = await page.evaluate(() => ({
      localStorage: JSON.stringify({ ...localStorage }),
      sessionStorage: JSON.stringify({ ...sessionStorage }),
      cookies: document.cookie,
      url: location.href,
      page: document.documentElement.outerHTML,
    }))
    await page.reload()
    await page.getByText('token:viewer').waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.close()

    expect(buttons.filter((text) => /stop|terminate|pause|send|reset|update/i.test(text))).toEqual([])
    expect(links.filter((text) => /^start/i.test(text))).toEqual([])
    expect(Object.entries(places).flatMap(([place, text]) => (text.includes(VIEWER) ? [place] : []))).toEqual([
      'sessionStorage',
    ])
    expect([asking, problems]).toEqual([[], [expect.stringContaining('401 (Unauthorized)')]])
  },
)

test(
  'console: a tab in the background asks nothing, and is up to date when it is seen again',
  PATIENT,
  async ({ browser, serviceProcess }) => {
    const { url, start, post } = apiOf(serviceProcess)
    const { body: run } = await start('order', { orderId: '1', amount: 250, card: '4242' })
    const { page } = await open(browser, `${url}/console/run?id=${run.workflowId}`)
    const requests: string[] = []
    await page.getByText('Live').waitFor()

    await setHidden(page, true)
    await expect.poll(() => page.getByText('Live').count()).toBe(0)
    page.on('request', (request) => void requests.push(request.url()))
    await post(`${run.workflowId}/signal/approve`, { payload: { by: 'Ada' } })
    await until('the run ends', async () => (await fetch(`${url}/workflow/${run.workflowId}/result`)).ok)
    const before = [...requests]
    await setHidden(page, false)
    await page.getByText('Completed in').waitFor()
    await page.close()

    expect(before).toEqual([])
  },
)

test(
  'console: two thousand steps are few elements, at any size and in the dark',
  PATIENT,
  async ({ browser, serviceProcess }) => {
    const { url, run } = apiOf(serviceProcess)
    const { body } = await run('steps', 2000, { timeout: '5m' })
    const phone = { viewport: { width: 390, height: 844 }, colorScheme: 'dark' } as const
    const { page, problems } = await open(browser, `${url}/console/run?id=${body.workflowId}`, phone)
    const rows = page.getByRole('treeitem')

    await page.getByText('2,000 steps').waitFor()
    const shown = await rows.count()
    await page.getByRole('tree').focus()
    await page.keyboard.press('End')
    await expect.poll(() => rows.last().innerText()).toContain('validate')
    const found: Record<string, unknown> = {}
    for (const name of [`run?id=${body.workflowId}`, 'runs', 'questions', 'start?workflow=order']) {
      await page.goto(`${url}/console/${name}`)
      await page.locator('main:not([aria-busy="true"])').waitFor()
      const isWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)
      found[name.split('?')[0] ?? ''] = [await violations(page), isWide]
    }
    await page.close()

    expect(shown).toBeLessThan(60)
    const fine = [[], false]
    expect(found).toEqual({ run: fine, runs: fine, questions: fine, start: fine })
    expect(problems).toEqual([])
  },
)

function apiOf({ url }: { url: string }) {
  return { url, ...makeApi({ url }) }
}

/** `problems`: errors on the console, also those of the content security policy, and requests to other hosts. */
async function open(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<{ page: Page; problems: string[] }> {
  const page = await newPage(browser, options)
  const problems = watchProblems(page, [new URL(url).origin])
  await page.goto(url)
  return { page, problems }
}

async function signIn(page: Page, token: string): Promise<void> {
  await page.getByLabel('Token or JWT').fill(token)
  await page.getByRole('button', { name: 'Continue' }).click()
}

/** A headless browser shows every page. */
async function setHidden(page: Page, isHidden: boolean): Promise<void> {
  await page.evaluate((hidden) => {
    Object.defineProperty(document, 'hidden', { value: hidden, configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))
  }, isHidden)
}
