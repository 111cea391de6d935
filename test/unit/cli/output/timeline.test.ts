import { stripVTControlCharacters } from 'node:util'
import { expect, test } from 'vitest'
import { renderTimeline } from '../../../../src/cli/output/timeline.ts'
import type { TraceNode } from '../../../../src/shared/wire/trace/tree.ts'

const BEGAN = Date.UTC(2026, 10, 21, 2, 55, 53)
const HOUR = 3_600_000

let ids = 0

/** Times are after the beginning of the run. */
function node(kind: string, name: string, from: number, to: number | null, more: Partial<TraceNode> = {}): TraceNode {
  return {
    ...{ id: String(ids++), kind, name, startedAt: BEGAN + from, endedAt: to === null ? null : BEGAN + to },
    ...{ input: null, output: null, error: null, attributes: {}, children: [], ...more },
  }
}

const FAILED = { name: 'Refused', message: 'The bank did not answer', cause: null }
const lastFailure = { name: 'Error', message: 'no' }

function linesOf(data: TraceNode, columns: number, now = BEGAN): string[] {
  const trace = { runId: 'r', source: 'history', complete: data.endedAt !== null, warnings: [], data }
  return stripVTControlCharacters(renderTimeline(trace, columns, now)).split('\n')
}

test('portico trace: a timeline has bars, attempts and messages, and long waits are short', () => {
  const attempts = [
    node('http', 'POST', 400, 800, { error: FAILED, attributes: { attempt: 1 } }),
    node('http', 'POST', 1900, 2400, { attributes: { attempt: 2 } }),
  ]
  const pack = node('step', 'pack', 2 * HOUR + 100, 2 * HOUR + 2000)
  const packing = node('workflow', 'packing', 2 * HOUR, 2 * HOUR + 2500, { children: [pack] })
  const order = node('workflow', 'order', 0, 2 * HOUR + 3000, {
    children: [
      node('step', 'validate', 10, 400, { attributes: { queueMs: 200 } }),
      node('step', 'charge', 400, 2400, { attributes: { attempts: 2 }, children: attempts }),
      node('step', 'notify', 2400, 3000, { attributes: { attempts: 3, lastFailure } }),
      node('timer', '1', 3000, 2 * HOUR, { attributes: { durationMs: 3 * HOUR, canceled: true } }),
      node('signal', 'go\u001b[2J\u202e', 2 * HOUR, 2 * HOUR),
      node('child_workflow', 'packing', 2 * HOUR, 2 * HOUR + 2500, { children: [packing] }),
    ],
  })

  expect(linesOf(order, 100)).toEqual([
    '2026-11-21 02:55:53 UTC     0            2.0 s  1 h 59 min           2 h 0 min',
    'order                       ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━   2 h 0 min',
    '  validate                  ░██                 ╱╱╱╱╱╱╱╱╱                       390 ms',
    '  charge                       ××╌╌╌╌╌╌╌╌████   ╱╱╱╱╱╱╱╱╱                       2.0 s, 2 attempts',
    '    http POST                  ███              ╱╱╱╱╱╱╱╱╱                       400 ms',
    '      Refused: The bank did not answer',
    '    http POST                            ████   ╱╱╱╱╱╱╱╱╱                       500 ms',
    '  notify                                    ▒▒▒▒▒╱╱╱╱╱╱╱╱                       600 ms, 3 attempts',
    '    after no',
    '  Timer of 3 h 0 min                            ──────────                      1 h 59 min, canceled',
    '  signal go\\u001b[2J\\u202e                      ╱╱╱╱╱╱╱╱╱◆',
    '  child_workflow packing                        ╱╱╱╱╱╱╱╱╱━━━━━━━━━━━━━━━━━      2.5 s',
    '    pack                                        ╱╱╱╱╱╱╱╱╱ █████████████         1.9 s',
    '',
    '░ waits for a worker  × failed attempt  ▒ attempts  ╌ backoff  ╱ idle',
    'source: history',
  ])
})

test('portico trace: the timeline of an open run ends now, and attempts that are not known are no bars', () => {
  const order = node('workflow', 'order', 0, null, {
    children: [
      node('step', 'flaky', 100, null, { attributes: { attempts: 4, lastFailure } }),
      node('step', `注文${'x'.repeat(99)}`, 500, null),
      node('timer', '1', 500, null),
    ],
  })

  expect(linesOf(order, 80, BEGAN + 1000)).toEqual([
    '2026-11-21 02:55:53 UTC           0                      1.0 s',
    'order                             ━━━━━━━━━━━━━━━━━━━━━━━━━━━▸  open',
    '  flaky                              ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▸  open, 4 attempts',
    '    after no',
    '  注文xxxxxxxxxxxxxxxxxxxxxxxxx…                █████████████▸  open',
    '  Timer 1                                       ─────────────▸  open',
    '',
    '▒ attempts',
    'source: history, the run is open',
  ])
})
