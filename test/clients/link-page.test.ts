/** The page of a one-use link in a browser, as wide as a phone: docs/links.md. */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { test as sharedTest } from '../support/fixtures.ts'
import { testCatalog } from '../support/test-catalog.ts'
import { newPage, PATIENT, violations } from './page-checks.ts'

const PHONE = { width: 360, height: 640 }

const QUESTION = {
  title: 'Refund 120 EUR to Ada?',
  details: [
    { label: 'Order', value: '17' },
    {
      label: 'Reason, as Ada has written it',
      value: 'The_parcel_arrived_late_and_without_the_second_of_the_two_lamps',
    },
  ],
  choices: [
    { label: 'Approve', payload: { ok: true } },
    { label: 'Reject', payload: { ok: false }, comment: 'required', style: 'danger' },
  ],
  expiresIn: '3d',
}

const test = sharedTest
  .extend('workerOptions', { scope: 'file' }, () => ({ catalog: testCatalog }))
  .extend('serviceEnv', { scope: 'file' }, () => ({
    SERVICE_SIGNING_KEY: Buffer.alloc(32, 7).toString('base64url'),
    SERVICE_PUBLIC_URL: 'https://portico.example',
    SERVICE_BASE_PATH: '/portico',
  }))
  .extend('newLink', { scope: 'file' }, async ({ serviceProcess }) => {
    // With the base path.
    const base = serviceProcess.url
    await until('the catalog is published', async () => (await fetch(`${base}/workflow/catalog`)).ok)
    return async (more: object = { signal: 'add' }): Promise<{ url: string; run: string }> => {
      const { workflowId } = await post(`${base}/workflow/start`, { workflowName: 'messages', input: null })
      const run = `${base}/workflow/${workflowId}`
      const { url } = await post(`${run}/links`, { ...QUESTION, ...more })
      return { url: `${base}/links/${new URL(url).pathname.split('/').at(-1)}`, run }
    }
  })

async function post(url: string, body: object): Promise<{ workflowId: string; url: string }> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect(response.ok, `${url} ${response.status}`).toBe(true)
  return response.json()
}

for (const colorScheme of ['light', 'dark'] as const) {
  test(
    `page of a link: on a phone with ${colorScheme} colours, axe finds nothing before and after the answer`,
    PATIENT,
    async ({ browser, newLink }) => {
      const { url } = await newLink()
      const { page, requests } = await open(browser, colorScheme, url)

      if (process.env.SCREENSHOT_TO && colorScheme === 'light')
        await page.screenshot({ path: process.env.SCREENSHOT_TO })
      const before = await violations(page)
      const isWide = await page.evaluate('document.documentElement.scrollWidth > window.innerWidth')
      const color = await page.evaluate('getComputedStyle(document.body).backgroundColor')
      await page.click('button[value="Reject"]')
      const isStillOpen = await page.isVisible('button[value="Approve"]')
      await page.fill('textarea', 'Not our order')
      await page.click('button[value="Reject"]')
      await page.waitForSelector('text=Recorded: Reject')
      const after = await violations(page)
      await page.goto(url)
      const answered = await page.innerText('main')
      const ofAnswered = await violations(page)
      await page.close()
      const second = await open(browser, colorScheme, `${url}x`)
      const ofMissing = [await second.page.innerText('main'), await violations(second.page)]
      await second.page.close()

      expect([before, after, ofAnswered]).toEqual([[], [], []])
      expect(isWide).toBe(false)
      expect(color).toBe(colorScheme === 'light' ? 'rgb(246, 247, 249)' : 'rgb(17, 20, 23)')
      // The browser itself asks for the required comment.
      expect(isStillOpen).toBe(true)
      expect(answered).toMatch(/Already answered: Reject, \w{3}, \d\d \w{3} \d{4}/)
      expect(ofMissing).toEqual([expect.stringContaining('This link is not valid'), []])
      expect(new Set(requests.map((request) => new URL(request).host))).toEqual(new Set([new URL(url).host]))
    },
  )
}

for (const colorScheme of ['light', 'dark'] as const) {
  test(
    `page of a link: with ${colorScheme} colours, axe finds nothing on pages that say why an answer does not count (threat 63)`,
    PATIENT,
    async ({ browser, newLink }) => {
      const [used, ended, rejected, expiring] = [
        await newLink(),
        await newLink(),
        await newLink({ update: 'validated', choices: [{ label: 'Approve', payload: -1 }] }),
        await newLink({ signal: 'add', expiresIn: '1s' }),
      ]
      const views: unknown[] = []
      const view = async (page: Page) => {
        const { problem, rest } = await page.evaluate<{ problem: string; rest: string }>(PARTS)
        views.push([problem, rest, await page.locator('form').count(), await violations(page)])
        await page.close()
      }
      const send = async (url: string, meanwhile: () => Promise<unknown> = async () => {}) => {
        const { page } = await open(browser, colorScheme, url)
        await meanwhile()
        await page.click('button[value="Approve"]')
        await page.waitForSelector('[role="alert"]')
        await view(page)
      }

      await send(used.url, () => answer(browser, used.url))
      await send(ended.url, () => post(`${ended.run}/terminate`, {}))
      await view((await open(browser, colorScheme, ended.url)).page)
      await send(rejected.url)
      await until('the link has expired', async () => (await fetch(expiring.url)).status === 410)
      await view((await open(browser, colorScheme, expiring.url)).page)

      const over = 'No answer is expected any more: the workflow has ended, or has started over'
      expect(views).toEqual([
        ['Not recorded, because this link was used before.', expect.stringMatching(/^Recorded: Reject, /), 0, []],
        [over, '', 0, []],
        [over, '', 0, []],
        ['Not accepted: -1 is not positive', expect.stringMatching(/^messages · one answer until /), 1, []],
        [expect.stringMatching(/^This link expired at /), '', 0, []],
      ])
    },
  )
}

test('page of a link: works in a browser without JavaScript', PATIENT, async ({ browser, newLink }) => {
  const { url } = await newLink()
  const { page } = await open(browser, 'light', url, { javaScriptEnabled: false })

  await page.fill('textarea', 'Not our order')
  await page.click('button[value="Reject"]')
  await page.waitForSelector('text=Recorded: Reject')
  await page.goto(url)
  const answered = await page.innerText('main')
  const forms = await page.locator('form').count()
  await page.goto('data:text/html,<title>off</title><script>document.title = "on"</script>')
  const scripts = await page.title()
  await page.close()

  expect(answered).toContain('Already answered: Reject')
  expect([forms, scripts]).toEqual([0, 'off'])
})

/** The text of the error, and of what follows it. */
const PARTS = `(() => {
  const [problem, ...rest] = [...document.querySelectorAll('main > p')].map(({ innerText }) => innerText)
  return { problem, rest: rest.join() }
})()`

/** Another person answers. */
async function answer(browser: Browser, url: string): Promise<void> {
  const { page } = await open(browser, 'light', url)
  await page.fill('textarea', 'Too expensive')
  await page.click('button[value="Reject"]')
  await page.waitForSelector('text=Recorded: Reject')
  await page.close()
}

/** On a phone. */
async function open(
  browser: Browser,
  colorScheme: 'light' | 'dark',
  url: string,
  options: BrowserContextOptions = {},
): Promise<{ page: Page; requests: string[] }> {
  const phone = { viewport: PHONE, isMobile: true, deviceScaleFactor: 2, colorScheme }
  const page = await newPage(browser, { ...phone, ...options })
  const requests: string[] = []
  page.on('request', (request) => requests.push(request.url()))
  await page.goto(url)
  return { page, requests }
}
