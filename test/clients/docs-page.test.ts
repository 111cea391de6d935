/** The reference page in a browser, with a real engine behind its forms. */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { expect } from 'vitest'
import { catalog } from '../../examples/catalog.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { EXAMPLE_WORKER } from '../support/example-worker.ts'
import { test as sharedTest } from '../support/fixtures.ts'
import type { Service } from '../support/service.ts'
import { newPage, PATIENT, violations, watchProblems } from './page-checks.ts'

const TOKEN = 'first+secret/token=='
const GREET = '/workflow/run#greet'

const test = sharedTest
  .extend('workerOptions', { scope: 'file' }, () => EXAMPLE_WORKER)
  .extend('serviceEnv', { scope: 'file' }, () => ({ SERVICE_DOCS_ON: 'true' }))
  .extend('guardedService', { scope: 'file' }, ({ startService, worker: _ }) =>
    startService({
      env: {
        SERVICE_DOCS_ON: 'true',
        SERVICE_HOST: '127.0.0.1',
        SERVICE_BASE_PATH: '/portico',
        SERVICE_API_AUTH_TOKEN: TOKEN,
      },
    }),
  )

test.beforeAll(async ({ serviceProcess, guardedService: _ }) => {
  await until('the catalog is published', async () => (await fetch(`${serviceProcess.url}/workflow/catalog`)).ok)
})

test(
  'reference page: without a token it shows the API and runs a workflow',
  PATIENT,
  async ({ browser, serviceProcess }) => {
    const { page, problems } = await open(browser, serviceProcess)

    const shown = await violations(page)
    const sent = page.waitForRequest((request) => request.method() === 'POST')
    const answer = await runGreet(page)
    const { 'idempotency-key': key, prefer } = await (await sent).allHeaders()
    await tryOut(page, '/workflow/runs')
    const inUse = await violations(page)
    await page.close()

    expect(answer).toMatchObject({ status: 'completed', output: 'Hello, Ada!' })
    // The document has examples of both.
    expect([key, prefer]).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), undefined])
    expect([shown, inUse, problems]).toEqual([[], [], []])
  },
)

test(
  'reference page: it asks for the token until it is right, and keeps it in memory only (threat 62)',
  PATIENT,
  async ({ browser, guardedService }) => {
    const { page, problems } = await open(browser, guardedService)

    await page.fill('#token', 'wrong')
    await page.click('#access button')
    await page.waitForSelector('#error[role="alert"]:has-text("The credential of the request is not valid")')
    const color = await page.locator('#error').evaluate((error) => getComputedStyle(error).color)
    const asking = await violations(page)
    await page.fill('#token', TOKEN)
    await page.click('#access button')
    const answer = await runGreet(page)
    const places = await page.evaluate(() => ({
      localStorage: JSON.stringify({ ...localStorage }),
      sessionStorage: JSON.stringify({ ...sessionStorage }),
      cookies: document.cookie,
      url: location.href,
      page: document.documentElement.outerHTML,
      fields: Array.from(
        document.querySelectorAll('input, textarea'),
        (field) => (field as HTMLInputElement).value,
      ).join(),
    }))
    const cookies = await page.context().cookies()
    await page.reload()
    const asksAgain = await page.isVisible('#token')
    await page.close()

    expect(answer).toMatchObject({ status: 'completed', output: 'Hello, Ada!' })
    // The red of the style sheet.
    expect(color).toBe('rgb(180, 35, 24)')
    expect(Object.entries(places).flatMap(([place, text]) => (text.includes(TOKEN) ? [place] : []))).toEqual([])
    expect(places.page).toContain('Authorization: Bearer &lt;token&gt;')
    expect([cookies, asksAgain, asking]).toEqual([[], true, []])
    expect(problems).toEqual([expect.stringContaining('401 (Unauthorized)')])
  },
)

test(
  'reference page: it shows another catalog, whose descriptions load and run nothing',
  PATIENT,
  async ({ browser, serviceProcess, startWorker }) => {
    const taskQueue = `hostile-${crypto.randomUUID()}`
    const description =
      'Hello <img src="https://evil.example/x.png" onerror="document.title = 1"><b style="color: red">you</b>'
    const workflows = catalog.workflows.slice(0, 1).map((greet) => ({ ...greet, name: 'hostile', description }))
    await startWorker({ taskQueue, catalog: { ...catalog, workflows } })
    const page = await newPage(browser)
    const answered: string[] = []
    page.on('response', (response) => answered.push(new URL(response.url()).host))

    await page.goto(`${serviceProcess.url}/docs?catalog=${taskQueue}`)
    const block = await tryOut(page, '/workflow/run#hostile')
    await block.locator('.opblock-description img').waitFor({ state: 'attached' })
    const title = await page.title()
    await page.close()

    expect(title).toBe('Portico API reference')
    expect(new Set(answered)).toEqual(new Set([new URL(serviceProcess.url).host]))
  },
)

test(
  'reference page: shows the workflows of the catalog first, with requests that can be sent as they are',
  PATIENT,
  async ({ browser, serviceProcess }) => {
    const { page, problems } = await open(browser, serviceProcess, { colorScheme: 'dark' })
    const { 'x-catalog': about } = await (await fetch(`${serviceProcess.url}/openapi.json`)).json()

    const tags = await page.locator('.opblock-tag').evaluateAll((all) => all.map((tag) => tag.getAttribute('data-tag')))
    const shown = await page.locator('.opblock-summary-path').evaluateAll((all) => all.map((path) => path.textContent))
    const summaries = await page.locator('.opblock-summary-description').allInnerTexts()
    const intro = await page.locator('.information-container .description').innerText()
    const { y: firstAt } = (await page.locator('.opblock').first().boundingBox()) ?? {}
    const block = await tryOut(page, '/workflow/run#order')
    const body = await block.locator('.body-param__text').inputValue()
    await block.locator('.execute').click()
    const { status } = JSON.parse(await block.locator('.live-responses-table .highlight-code code').first().innerText())
    const codes = await block
      .locator('.responses-table:not(.live-responses-table) .response-col_status')
      .allInnerTexts()
    const errors = await block.locator('.response[data-code="default"]').innerText()
    const { height } = (await block.boundingBox()) ?? {}
    const screen = page.viewportSize()?.height ?? 0
    const inUse = await violations(page)
    const dark = await backgroundOf(page)
    await page.emulateMedia({ colorScheme: 'light' })
    // The event comes with the next frame.
    await expect.poll(() => backgroundOf(page)).toEqual(['rgb(255, 255, 255)', 'rgba(0, 0, 0, 0)'])
    await page.close()

    expect([tags[0], tags.at(-1)]).toEqual(['Workflows', 'One run'])
    expect(shown.length).toBeGreaterThan(30)
    expect(shown.filter((path) => path?.includes('rid'))).toEqual([])
    expect(summaries.filter((summary) => summary.includes('`'))).toEqual([])
    expect(intro.trim()).toBe(`Catalog ${about.name} in the namespace default.`)
    expect(firstAt).toBeLessThan(screen / 2)
    expect(JSON.parse(body)).toEqual({ workflowName: 'order', input: { orderId: 'string', amount: 1, card: 'string' } })
    expect(status).toBe('completed')
    expect(codes.filter((code) => /^\d/.test(code))).toEqual(['200'])
    expect(errors).toContain('424: UnsupportedWorkflowError, ')
    expect(errors).not.toContain('HandlerNotFoundError')
    // With the form and the response: it was 16 screens without them.
    expect(height).toBeLessThan(6 * screen)
    expect([inUse, problems]).toEqual([[], []])
    // That of the page, and that of the operations.
    expect(dark).toEqual(['rgb(28, 32, 34)', 'rgb(28, 32, 34)'])
  },
)

/** `problems`: errors on the console, and requests to other hosts. */
async function open(
  browser: Browser,
  { url }: Service,
  options: BrowserContextOptions = {},
): Promise<{ page: Page; problems: string[] }> {
  const page = await newPage(browser, options)
  const problems = watchProblems(page, [`${url}/`])
  await page.goto(`${url}/docs`)
  await page.waitForSelector('#token:visible, .opblock')
  return { page, problems }
}

function backgroundOf(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    ['body', '.swagger-ui'].map(
      (one) => getComputedStyle(document.querySelector(one) ?? document.body).backgroundColor,
    ),
  )
}

/** Runs `greet` with the form of its operation, and returns the response that the page shows. */
async function runGreet(page: Page): Promise<unknown> {
  const block = await tryOut(page, GREET)
  await block.locator('.body-param__text').fill('{"workflowName": "greet", "input": {"name": "Ada"}}')
  await block.locator('.execute').click()
  return JSON.parse(await block.locator('.live-responses-table .highlight-code code').first().innerText())
}

/** Opens the form of an operation. */
async function tryOut(page: Page, path: string) {
  const block = page.locator('.opblock', { has: page.locator(operation(path)) })
  await block.locator('.opblock-summary-control').click()
  await block.locator('.try-out__btn').click()
  return block
}

function operation(path: string): string {
  return `.opblock-summary-path[data-path="${path}"]`
}
