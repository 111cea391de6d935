import { expect, test } from 'vitest'
import type { RunState } from '../../../../../src/service/engine/calls/stream/inspect.ts'
import type { Chunk } from '../../../../../src/service/engine/calls/stream/poll.ts'
import {
  type FeedAnswer,
  type FeedState,
  firstState,
  next,
} from '../../../../../src/service/engine/streams/feed-state.ts'
import { ServiceError } from '../../../../../src/service/model/errors.ts'
import { rejection } from '../../../call.ts'

const RUN = { workflowId: 'w', runId: 'r' }
const MAX_UPDATES = 1000
const PAUSED = new ServiceError('WorkflowNotReadyError', 'paused')
const SLOW = new ServiceError('DeadlineExceededError', 'no worker')

const chunkAt = (from: number, isStored = true): Chunk => ({
  from,
  items: [{ offset: from, topic: 't', data: from }],
  next: from + 1,
  bytes: 1,
  isStored,
})
const chunk = (from: number, more: Partial<Extract<FeedAnswer, { kind: 'chunk' }>> = {}): FeedAnswer => ({
  kind: 'chunk',
  chunk: chunkAt(from),
  isFull: false,
  ...more,
})
const described = (run: Partial<RunState> = {}): FeedAnswer => ({
  kind: 'described',
  run: {
    status: 'running',
    completedAt: null,
    historyLength: 0,
    historySizeBytes: 0,
    obstacle: null,
    failsAsTooLarge: false,
    ...run,
  },
})
const verified = (hasPollQuery = false): FeedAnswer => ({ kind: 'verified', handlers: { hasPollQuery } })
const unverified = (obstacle: ServiceError | null = null): FeedAnswer => ({ kind: 'unverified', obstacle })
const ended = (nextRunId: string | null = null): FeedAnswer => ({ kind: 'ended', nextRunId })
const tail = (chunks: Chunk[] = [], complete = true): FeedAnswer => ({ kind: 'tail', chunks, complete })
const unknown: FeedAnswer = { kind: 'unknown' }
const closing: FeedAnswer = { kind: 'closing' }
const unready: FeedAnswer = { kind: 'unready' }
const exhausted: FeedAnswer = { kind: 'exhausted' }
const accepted: FeedAnswer = { kind: 'pending', isAccepted: true }
const unseen: FeedAnswer = { kind: 'pending', isAccepted: false }
const closed = described({ status: 'completed' })
const used = described({ historyLength: 50_000 })

const after = (answers: FeedAnswer[]): FeedState => answers.reduce(next, firstState(RUN, MAX_UPDATES))

/** The step that follows each answer, with the pause before it. */
const stepsOf = (answers: FeedAnswer[]) =>
  answers.map((_, at) => {
    const { step, pauseMs } = after(answers.slice(0, at + 1))
    return pauseMs === 0 ? step : `${step} after ${pauseMs}`
  })

const LIVE = [unknown, described(), verified()]
const QUERYING = [unknown, used, verified(true), used]

test.for<[string, FeedAnswer[], (string | null)[]]>([
  ['a new run is polled once it was verified', LIVE, ['describe', 'verify', 'poll']],
  ['stored polls are read first', [chunk(0), chunk(1), unknown], ['read', 'read', 'describe']],
  ['a run that was polled needs no verification', [accepted, described()], ['describe', 'poll']],
  ['nor one whose polls are stored', [chunk(0), unknown, described()], ['read', 'describe', 'poll']],
  ['an unseen poll is read again', [unseen, unseen, accepted], ['read after 100', 'read after 100', 'describe']],
  ['a run that is not ready is described later', [unready], ['describe after 1000']],
  [
    'a verification that failed is repeated',
    [unknown, described(), unverified(SLOW), described(), unverified(), described()],
    ['describe', 'verify', 'describe', 'verify after 1000', 'describe', 'verify after 1000'],
  ],
  [
    'between polls is a pause',
    [...LIVE, chunk(0), chunk(1)],
    ['describe', 'verify', 'poll', 'poll after 100', 'poll after 100'],
  ],
  [
    'but not if more is available',
    [...LIVE, chunk(0, { isFull: true }), chunk(1, { wasStored: true })],
    ['describe', 'verify', 'poll', 'poll', 'poll'],
  ],
  [
    'a poll without an answer is followed by a description',
    [...LIVE, accepted, described(), unready, described()],
    ['describe', 'verify', 'poll', 'describe', 'poll', 'describe after 1000', 'poll'],
  ],
  [
    'a run without updates is queried each second',
    [...LIVE.slice(0, 2), verified(true), exhausted, described(), chunk(0), described(), unknown],
    ['describe', 'verify', 'poll', 'describe', 'query', 'describe after 1000', 'query', 'describe after 1000'],
  ],
  ['so is one whose readers have used up their share', QUERYING, ['describe', 'verify', 'describe', 'query']],
  [
    'a run that was polled before is verified before it is queried',
    [accepted, used, unverified(), used, verified(true)],
    ['describe', 'verify', 'describe', 'verify after 1000', 'describe'],
  ],
  [
    'the rest of a closed run is read',
    [unknown, closed, ended(), chunk(0), unknown, tail()],
    ['describe', 'wait', 'rest', 'rest', 'tail', null],
  ],
  [
    'a run that is closing is described before and after its end',
    [...LIVE, closing, described(), ended(), closed, unknown, tail()],
    ['describe', 'verify', 'poll', 'describe', 'wait', 'describe', 'rest', 'tail', null],
  ],
  ['a closed run is described once', [closing, closed, ended()], ['describe', 'wait', 'rest']],
  [
    'a closed run is not verified again',
    [unknown, described(), unverified(), closed],
    ['describe', 'verify', 'describe', 'wait'],
  ],
  [
    'a run that closes while it is queried',
    [...QUERYING, unknown, closed],
    ['describe', 'verify', 'describe', 'query', 'describe after 1000', 'wait'],
  ],
  [
    'the next run of the chain is looked at',
    [closing, closed, ended('r2'), { kind: 'carried', upTo: 0 }],
    ['describe', 'wait', 'carry', 'rest'],
  ],
])('stream feed: %s', ([, answers, steps]) => {
  expect(stepsOf(answers)).toEqual(steps)
})

test('stream feed: an unseen poll is said to be unanswered after 2 s, and reading on takes as long again', () => {
  const waits = Array.from({ length: 20 }, () => unseen)

  expect(after(waits)).toMatchObject({ step: 'read', view: { obstacle: null } })
  expect(after([...waits, unseen, described()]).view.obstacle).toMatchObject({ error: 'DeadlineExceededError' })
  expect(after([...waits, chunk(0), unseen])).toMatchObject({ step: 'read', pauseMs: 100 })
})

test('stream feed: the run is described again after 50 polls', () => {
  const polls = Array.from({ length: 50 }, (_, at) => chunk(at, { isFull: true }))

  expect(after([...LIVE, ...polls.slice(1)])).toMatchObject({ step: 'poll' })
  expect(after([...LIVE, ...polls])).toMatchObject({ step: 'describe', view: { next: 50, isLive: true } })
})

test.for<[string, FeedAnswer[], object]>([
  ['that it is live', LIVE, { isLive: true, hasPollQuery: false }],
  ['that its items can be queried', QUERYING, { isLive: true, hasPollQuery: true }],
  ['that a canceled run, which is open, has no more items for now', [closing, described()], { isLive: true }],
  ['what the run is waiting for', [unknown, described({ obstacle: PAUSED })], { obstacle: PAUSED, isLive: false }],
  ['what prevents the verification', [unknown, described(), unverified(SLOW), described()], { obstacle: SLOW }],
  [
    'what the description says before that',
    [unknown, described(), unverified(SLOW), described({ obstacle: PAUSED })],
    { obstacle: PAUSED },
  ],
  ['that a verified run can answer', [unknown, described({ obstacle: PAUSED }), verified()], { obstacle: null }],
  [
    'that an item has come',
    [...LIVE, accepted, described({ obstacle: PAUSED }), chunk(0)],
    { obstacle: null, next: 1 },
  ],
])('stream feed: readers learn %s', ([, answers, view]) => {
  expect(after(answers).view).toMatchObject(view)
})

test('stream feed: what readers see is the same object until it changes', () => {
  const paused = [...LIVE, accepted, described({ obstacle: PAUSED })]
  const again = [...paused, accepted, described({ obstacle: new ServiceError('WorkflowNotReadyError', 'paused') })]

  const state = after(paused)
  expect([accepted, described({ obstacle: PAUSED })].reduce(next, state).view).toBe(state.view)
  expect(after(again).view.obstacle).toBe(PAUSED)
})

test('stream feed: the end has the items of the tail, and the state of the run', () => {
  const completedAt = new Date(0)
  const closedAt = described({ status: 'failed', completedAt })

  expect(after([chunk(0), closing, closedAt, ended(), unknown, tail([chunkAt(1, false)], false)]).view).toMatchObject({
    next: 2,
    end: { status: 'failed', completedAt, next: null, complete: false },
  })
})

test('stream feed: the end is known before the tail, which only a worker has', () => {
  const state = after([closing, closed, ended('r2'), { kind: 'carried', upTo: 0 }, chunk(0), unknown])

  expect(state).toMatchObject({
    step: 'tail',
    view: { ending: { next: { runId: 'r2', from: 0, isReset: true }, complete: false }, end: null },
  })
})

test.for<[number, object]>([
  [2, { runId: 'r2', from: 2, isReset: false }],
  [1, { runId: 'r2', from: 0, isReset: true }],
  [-1, { runId: 'r2', from: 0, isReset: true }],
])('stream feed: a next run with the items up to %i', ([upTo, expected]) => {
  const answers = [chunk(0), closing, closed, ended('r2'), { kind: 'carried', upTo } as const, unknown]

  expect(after([...answers, tail([chunkAt(1)])]).view.end?.next).toEqual(expected)
})

test.for<[string, FeedAnswer[], string]>([
  ['a poll makes it fail', [unknown, described({ failsAsTooLarge: true })], 'WorkflowNotReadyError'],
  ['it takes no more updates and has no query', [...LIVE, exhausted, described()], 'ResourceExhaustedError'],
])('stream feed: a run is left alone when %s', async ([, answers, error]) => {
  expect(await rejection(Promise.resolve().then(() => after(answers)))).toMatchObject({ error })
})
