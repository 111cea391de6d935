import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import recorded from '../../../dev/pictures/quick-start.json' with { type: 'json' }
import { drawQuickStart } from '../../../dev/pictures/quick-start.ts'
import { drawTerminal } from '../../../dev/pictures/terminal.ts'
import recordedRun from '../../../dev/pictures/timeline.json' with { type: 'json' }
import { drawTimeline } from '../../../dev/pictures/timeline.ts'

const FOLDER = new URL('../../../docs/pictures/', import.meta.url)

test('pictures: quick-start.svg is drawn from the recorded session (npm run pictures)', async () => {
  const svg = await readFile(new URL('quick-start.svg', FOLDER), 'utf8')

  expect(drawQuickStart(recorded)).toBe(svg)
  expect(svg).not.toMatch(/\/home\/|\/work\/|\/root\//)
})

test('pictures: timeline.svg is drawn from the recorded run (npm run pictures)', async () => {
  expect(drawTimeline(recordedRun)).toBe(await readFile(new URL('timeline.svg', FOLDER), 'utf8'))
})

test('pictures: they have colors for light and for dark, and load nothing', async () => {
  for (const name of ['overview.svg', 'quick-start.svg', 'timeline.svg']) {
    const svg = await readFile(new URL(name, FOLDER), 'utf8')

    expect([name, svg.includes('prefers-color-scheme:dark'), /<title>/.test(svg)]).toEqual([name, true, true])
    expect(svg.replace('xmlns="http://www.w3.org/2000/svg"', '')).not.toMatch(
      /https?:\/\/(?!127\.0\.0\.1)|<script|<image/,
    )
  }
})

test('pictures: a terminal wraps after 100 columns, escapes markup and keeps colors', () => {
  const svg = drawTerminal([{ command: 'x'.repeat(99), output: '\u001b[32m<ok>\u001b[39m' }], 'A & B')

  expect(svg).toContain('<title>A &amp; B</title>')
  expect(svg.match(/x+(?=<\/text>)/g)?.map((line) => line.length)).toEqual([98, 1])
  expect(svg).toContain('<tspan class="green">&lt;ok&gt;</tspan>')
})
