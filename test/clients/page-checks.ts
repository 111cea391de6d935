/** What tests of pages in a browser share. */
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'

/** Swagger UI and axe-core compute for seconds; a busy machine takes a minute to start the browser, or to run them. */
export const PATIENT = { timeout: 600_000 }
const STEP_TIMEOUT_MS = 120_000

const axe = await readFile(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

export async function newPage(browser: Browser, options: BrowserContextOptions = {}): Promise<Page> {
  const page = await browser.newPage(options)
  page.setDefaultTimeout(STEP_TIMEOUT_MS)
  return page
}

/** Errors on the console from now on, and requests to other hosts than `urls`. */
export function watchProblems(page: Page, urls: string[]): string[] {
  const problems: string[] = []
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
  page.on('pageerror', ({ message }) => problems.push(message))
  page.on('request', (request) => {
    if (![...urls, 'data:'].some((url) => request.url().startsWith(url))) problems.push(request.url())
  })
  return problems
}

/** What axe-core finds with its default rules, or only with these. It runs in spite of the policy of the page. */
export async function violations(page: Page, rules?: string[]): Promise<string[]> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe)
  const options = JSON.stringify({ resultTypes: ['violations'], ...(rules && { runOnly: rules }) })
  return page.evaluate<string[]>(
    `axe.run(${options}).then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => [id, html].join(" "))))`,
  )
}
