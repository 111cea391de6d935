import { describe, expect, test } from 'vitest'
import { childrenOf, isMark, kindText, labelOf, stateOf, toRows } from '../../../../src/shared/trace-view/rows.ts'
import {
  compressedScale,
  extentOf,
  linearScale,
  padded,
  shifted,
  ticksOf,
  ticksOfScale,
  zoomed,
} from '../../../../src/shared/trace-view/scale.ts'
import { segmentsOf } from '../../../../src/shared/trace-view/segments.ts'
import type { TraceNode } from '../../../../src/shared/wire/trace/tree.ts'

const BEGAN = 1_700_000_000_000

let ids = 0

/** Times are after the beginning of the run. */
function node(kind: string, name: string, from: number, to: number | null, more: Partial<TraceNode> = {}): TraceNode {
  return {
    ...{ id: String(ids++), kind, name, startedAt: BEGAN + from, endedAt: to === null ? null : BEGAN + to },
    ...{ input: null, output: null, error: null, attributes: {}, children: [], ...more },
  }
}

const FAILED = { name: 'Error', message: 'no', cause: null }

describe('rows', () => {
  test('the tree is listed from top to bottom, with the place of each row among its siblings', () => {
    const inner = node('step', 'inner', 1, 2)
    const group = node('child_workflow', 'group', 1, 3, { children: [inner] })
    const root = node('workflow', 'order', 0, 9, { children: [group, node('step', 'last', 4, 5)] })

    const all = toRows(root, new Set())
    const closed = toRows(root, new Set([group.id]))

    expect(all.map((row) => [row.node.name, row.depth, row.position, row.siblings, row.isExpanded])).toEqual([
      ['order', 0, 1, 1, true],
      ['group', 1, 1, 2, true],
      ['inner', 2, 1, 1, false],
      ['last', 1, 2, 2, false],
    ])
    expect(closed.map((row) => [row.node.name, row.hasChildren])).toEqual([
      ['order', true],
      ['group', true],
      ['last', false],
    ])
  })

  test('steps with the same name show the first simple value of their input, others what is said about them', () => {
    const inputs = [{ tags: [], index: 17 }, ['x'.repeat(60)], null, 7, { nothing: null }, JSON.rawJSON('1e400')]
    const children = inputs.map((input, at) => node('step', 'item', at, at + 1, { input }))
    const root = node('workflow', 'w', 0, 9, {
      children: [
        ...children,
        node('step', 'other', 7, 8, { input: { id: 1 } }),
        node('timer', '1', 8, 9, { attributes: { summary: 'the deadline' } }),
      ],
    })

    expect(toRows(root, new Set()).map(({ detail }) => detail)).toEqual([
      '',
      'index 17',
      'x'.repeat(40),
      '',
      '7',
      '',
      '1e400',
      '',
      'the deadline',
    ])
  })

  test('the run of a child and messages of SDKs are no rows of their own', () => {
    const step = node('step', 'pay', 2, 3)
    const run = node('workflow', 'payment', 1, 4, { children: [step, node('signal', '__temporal_poll', 2, 2)] })
    const child = node('child_workflow', 'payment', 1, 4, { children: [run] })

    expect(childrenOf(child)).toEqual([step])
  })

  test('each node has a state, a kind and a label', () => {
    const canceled = { error: { name: 'CanceledFailure', message: 'c', cause: null } }
    const nodes = [
      node('step', 'a', 0, null),
      node('step', 'a', 0, 1, { attributes: { local: true } }),
      node('step', 'a', 0, 1, { error: FAILED }),
      node('timer', '1', 0, 1, { ...canceled, attributes: { durationMs: 90_000 } }),
      node('workflow', 'w', 0, 1, { attributes: { status: 'terminated' } }),
      node('GET', '/x', 0, 1),
    ]

    expect(nodes.map((one) => [stateOf(one), kindText(one), labelOf(one, (ms) => `${ms} ms`)])).toEqual([
      ['open', 'Activity', 'a'],
      ['completed', 'Local activity', 'a'],
      ['failed', 'Activity', 'a'],
      ['canceled', 'Timer', 'Timer of 90000 ms'],
      ['canceled', 'Workflow', 'w'],
      ['completed', 'Span: GET', '/x'],
    ])
    const marks = [node('signal', 's', 0, null), node('update', 'u', 0, 5), node('update', 'u', 0, 50)]
    expect(marks.map(isMark)).toEqual([true, true, false])
  })
})

describe('segments', () => {
  /** The parts of a bar, with times after the beginning of the run. */
  function partsOf(one: TraceNode, now: number) {
    return segmentsOf(one, BEGAN + now).map(({ kind, from, to }) => [kind, from - BEGAN, to - BEGAN])
  }

  test('attempts are drawn where spans show them, and never as if they were known', () => {
    const attempt = (number: number, from: number, to: number, error: TraceNode['error'] = null) =>
      node('attempt', 'a', from, to, { error, attributes: { attempt: number } })
    const children = [attempt(1, 20, 30, FAILED), attempt(2, 60, 90)]

    expect(partsOf(node('step', 'a', 10, 100, { children }), 200)).toEqual([
      ['queue', 10, 20],
      ['failed-attempt', 20, 30],
      ['backoff', 30, 60],
      ['attempt', 60, 90],
    ])
    const failing = [attempt(1, 20, 30, FAILED), attempt(2, 60, 90, FAILED)]
    expect(partsOf(node('step', 'a', 10, null, { children: failing }), 200).slice(3)).toEqual([
      ['failed-attempt', 60, 90],
      ['backoff', 90, 200],
    ])
    expect(partsOf(node('step', 'a', 10, 100, { attributes: { attempts: 3 } }), 200)).toEqual([['retries', 10, 100]])
    const last = { attributes: { attempts: 3, lastStartedAt: BEGAN + 80 }, error: FAILED }
    expect(partsOf(node('step', 'a', 10, 100, last), 200)).toEqual([
      ['retries', 10, 80],
      ['failed-attempt', 80, 100],
    ])
  })

  test('a step that is being retried is known since its last attempt', () => {
    const open = (times: object) => node('step', 'a', 10, null, { attributes: { attempts: 4, ...times } })

    expect(partsOf(open({ lastEndedAt: BEGAN + 120, nextAttemptAt: BEGAN + 260 }), 200)).toEqual([
      ['retries', 10, 120],
      ['backoff', 120, 200],
    ])
    expect(partsOf(open({ lastStartedAt: BEGAN + 150 }), 200)).toEqual([
      ['retries', 10, 150],
      ['attempt', 150, 200],
    ])
    expect(stateOf(open({}))).toBe('retrying')
  })
})

describe('scale', () => {
  const HOUR = 3_600_000
  const work = [
    node('step', 'a', 0, 3000),
    node('timer', '1', 3000, 2 * HOUR),
    node('step', 'b', 2 * HOUR, 2 * HOUR + 4000),
  ]
  const waits = node('workflow', 'w', 0, 2 * HOUR + 4000, { children: work })
  const all = extentOf(waits, BEGAN)

  test('an open wait at the end is narrow', () => {
    const children = [node('step', 'a', 0, 3000), node('timer', '1', 3000, null)]
    const open = node('workflow', 'w', 0, null, { children })

    const scale = compressedScale(open, BEGAN + HOUR, extentOf(open, BEGAN + HOUR), 10)

    const idle = scale?.parts.filter(({ isIdle }) => isIdle) ?? []
    expect(idle.map(({ from, to }) => [from - BEGAN, to - BEGAN])).toEqual([[3000, HOUR]])
  })

  test('a long activity is work, and short waits are left alone', () => {
    const busy = node('workflow', 'w', 0, 2 * HOUR, { children: [node('step', 'a', 0, 2 * HOUR)] })
    const short = node('workflow', 'w', 0, 1900, { children: [node('timer', '1', 10, 1890)] })

    const only = node('workflow', 'w', 0, null)
    const open = { from: BEGAN, to: BEGAN + HOUR }

    expect(compressedScale(only, BEGAN + HOUR, open, 10)).toBe(null)
    expect([busy, short].map((root) => compressedScale(root, BEGAN, extentOf(root, BEGAN), 10))).toEqual([null, null])
  })

  test('open nodes end now, and what outlives its run still fits', () => {
    const late = node('workflow', 'w', 0, 100, { children: [node('step', 'abandoned', 50, 400)] })
    const open = node('workflow', 'w', 0, null)

    expect([extentOf(late, BEGAN), extentOf(open, BEGAN + 70), extentOf(open, BEGAN)]).toEqual([
      { from: BEGAN, to: BEGAN + 400 },
      { from: BEGAN, to: BEGAN + 70 },
      { from: BEGAN, to: BEGAN + 10 },
    ])
  })

  test('lines are at round distances from the beginning, and never in a compressed part', () => {
    const scale = compressedScale(waits, BEGAN, all, 10)
    const idle = scale?.parts.find(({ isIdle }) => isIdle)

    expect(ticksOf(0, 0, 7300, 7)).toEqual([0, 2000, 4000, 6000])
    expect(ticksOf(100, 0, 10, 1)).toEqual([])
    const inside = ticksOfScale(scale ?? linearScale(all), BEGAN, 7).filter(
      (at) => at > (idle?.from ?? 0) && at < (idle?.to ?? 0),
    )
    expect(inside).toEqual([])
  })

  test('a view stays within the run, and is all of it at the end', () => {
    const full = padded({ from: 0, to: 100 })
    const half = zoomed(linearScale(full), 0.5, full)

    expect(full).toEqual({ from: -1, to: 101 })
    expect(half).toEqual({ from: 24.5, to: 75.5 })
    expect(zoomed(linearScale(half ?? full), 2, full)).toBe(null)
    expect(shifted(linearScale({ from: 60, to: 90 }), 0.5, full)).toEqual({ from: 71, to: 101 })
    expect(zoomed(linearScale({ from: 10, to: 11 }), 0.001, full)).toMatchObject({ from: 10.4995 })
  })
})
