/** The page of a one-use link in a browser, as wide as a phone: docs/links.md. */
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { test as sharedTest } from '../support/fixtures.ts'
import { testCatalog } from '../support/test-catalog.ts'

// A busy machine takes a minute to start the browser, or to run axe-core.
const STEP_TIMEOUT_MS = 120_000
const PATIENT = { timeout: 600_000 }
const PHONE = { width: 360, height: 640 }

const axe = await readFile(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

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
    return async (): Promise<string> => {
      const { workflowId } = await post(`${base}/workflow/start`, { workflowName: 'messages', input: null })
      const { url } = await post(`${base}/workflow/${workflowId}/links`, {
        title: 'Refund 120 EUR to Ada?',
        signal: 'add',
        choices: [
          { label: 'Approve', payload: { ok: true } },
          { label: 'Reject', payload: { ok: false }, comment: 'required' },
        ],
        expiresIn: '3d',
      })
      return `${base}/links/${new URL(url).pathname.split('/').at(-1)}`
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
      const url = await newLink()
      const { page, requests } = await open(browser, colorScheme, url)

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

test(
  'page of a link: a person whose page is older than the answer of another reads which one was recorded',
  PATIENT,
  async ({ browser, newLink }) => {
    const url = await newLink()
    const [one, another] = [await open(browser, 'light', url), await open(browser, 'light', url)]

    await one.page.click('button[value="Approve"]')
    await one.page.waitForSelector('text=Recorded: Approve')
    await another.page.fill('textarea', 'Too expensive')
    await another.page.click('button[value="Reject"]')
    await another.page.waitForSelector('[role="alert"]')
    const told = await another.page.innerText('main')
    const found = await violations(another.page)
    await Promise.all([one.page.close(), another.page.close()])

    expect(told).toContain('Not recorded, because this link was used before.')
    expect(told).toContain('Recorded: Approve')
    expect(found).toEqual([])
  },
)

/** Scripts of pages are off: the page must work without. axe-core runs in spite of the policy of the page. */
async function open(
  browser: Browser,
  colorScheme: 'light' | 'dark',
  url: string,
): Promise<{ page: Page; requests: string[] }> {
  const page = await browser.newPage({ viewport: PHONE, isMobile: true, deviceScaleFactor: 2, colorScheme })
  page.setDefaultTimeout(STEP_TIMEOUT_MS)
  const requests: string[] = []
  page.on('request', (request) => requests.push(request.url()))
  await page.goto(url)
  if (process.env.SCREENSHOT_TO && colorScheme === 'light' && !url.endsWith('x')) {
    await page.screenshot({ path: process.env.SCREENSHOT_TO })
  }
  return { page, requests }
}

async function violations(page: Page): Promise<unknown> {
  await page.evaluate(axe)
  return page.evaluate(
    'axe.run().then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => [id, html].join(" "))))',
  )
}
