/** The console in a browser, with a real engine behind it: docs/api/service.md, Console. */
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { makeApi } from '../support/api.ts'
import { apiOf, LARGE_ORDER, OPERATOR, open, setHidden, signIn, test, VIEWER } from './console-fixture.ts'
import { PATIENT, violations } from './page-checks.ts'

test(
  'console: a run is found, followed by keyboard, approved, and ends on its page',
  PATIENT,
  async ({ browser, serviceProcess }) => {
    const { url, start } = apiOf(serviceProcess)
    const workflowId = `order-${crypto.randomUUID()}`
    await start('order', LARGE_ORDER, { workflowId })
    const { page, problems } = await open(browser, `${url}/console`)
    const traces: string[] = []
    page.on('request', (request) => void (request.url().endsWith('/trace-log') && traces.push(request.url())))

    await page.getByRole('link', { name: workflowId }).click()
    await page.getByRole('button', { name: 'Send approve…' }).waitFor()
    await page.getByText('Waiting for a message ·').waitFor()
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
    const { length: tracesRead } = traces
    await page.reload()
    await page.getByText('Completed in').waitFor()
    await page.close()

    expect(new URL(listed).searchParams.get('id')).toBe(workflowId)
    expect([waiting, ended, actions]).toEqual([[], [], 0])
    // At first and at the end; in between the page folds what the stream of the trace sends.
    expect(tracesRead).toBe(2)
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
    await start('order', LARGE_ORDER, { workflowId })
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
    const { body: run } = await start('order', LARGE_ORDER)
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
  'console: two thousand steps are few elements, and the last one can be reached',
  PATIENT,
  async ({ browser, serviceProcess }) => {
    const { url, run } = apiOf(serviceProcess)
    const { body } = await run('steps', 2000, { timeout: '5m' })
    const { page, problems } = await open(browser, `${url}/console/run?id=${body.workflowId}`)
    const rows = page.getByRole('treeitem')
    const tree = page.getByRole('tree')

    await page.getByText('2,000 steps').waitFor()
    const shown = [await rows.count()]
    await tree.evaluate((element) => element.scrollTo(0, element.scrollHeight))
    await expect.poll(() => rows.last().getAttribute('aria-posinset')).toBe('2000')
    shown.push(await rows.count())
    await tree.press('Home')
    await page.getByRole('treeitem', { selected: true }).getByText('steps').waitFor()
    await tree.press('End')
    await page.getByRole('treeitem', { selected: true }).getByText('validate').waitFor()
    await page.close()

    expect(Math.max(...shown)).toBeLessThan(60)
    expect(problems).toEqual([])
  },
)
