/** The reference page in Chromium, which repeats a request whose connection is lost without telling the page. */
import { expect } from 'vitest'
import { newPage, PATIENT } from '../clients/page-checks.ts'
import { markedRun, test } from './fixtures.ts'

test(
  'reference page: one click is one run, even if the browser sends it twice (threat 108)',
  PATIENT,
  async ({ browser, counted, runsOf }) => {
    const page = await newPage(browser)
    await page.goto(`${counted.url}/docs`)
    const block = page.locator('.opblock', { has: page.locator('.opblock-summary-path[data-path="/workflow/run"]') })
    await block.locator('.opblock-summary-control').click()
    await block.locator('.try-out__btn').click()
    const runs = [markedRun(), markedRun()]
    counted.takeRequests()

    for (const { body } of runs) {
      await block.locator('.body-param__text').fill(body)
      counted.loseNextResponse()
      const answered = page.waitForResponse(`${counted.url}/workflow/run`)
      await block.locator('.execute').click()
      await answered
    }
    await page.close()
    const keys = counted.takeRequests().map(({ key }) => key)
    const started = await Promise.all(runs.map(({ mark }) => runsOf(mark)))

    expect(started.map(({ length }) => length)).toEqual([1, 1])
    expect([keys.length, new Set(keys).size, keys.includes(undefined)]).toEqual([4, 2, false])
  },
)
