/** Examples in a page of the documentation: sends their requests, and compares the responses with those of the page. */
import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import type { ShownResponse } from '../../src/service/openapi/examples.ts'
import type { Answer, Api } from './api.ts'
import type { Example } from './api-docs.ts'

// All test files share the engine, so each run adds a suffix to these ids.
const IDS = /\b(?:chat|order)-\d+/g

// The catalog of `npm run dev`.
const SHOWN_CATALOG = 'examples'

// The second form is that of an id derived from an `Idempotency-Key`, and of a batch.
const UUID = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|\b(?:key|[\da-f]{16})-[\da-f]{32}/g
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const WAITED = /(?:after|within) \d+ ms/
// An object with `"…": "…"` in the document has more keys than are shown, and `"…"` stands for any string.
const LEFT_OUT = '…'
const YEAR_2000_MS = 946_684_800_000

/** Sends the requests in their order. Each must get the documented response. */
export async function tryOutAll(api: Api, catalog: string, examples: readonly Example[]): Promise<void> {
  const names = namesOf(catalog)
  for (const example of examples) await tryOut(api, example, names)
}

async function tryOut(api: Api, example: Example, names: Names): Promise<void> {
  const { where } = example
  const sendAndCompare = async () => {
    const body = example.body === null ? undefined : names.ours(example.body)
    const headers = Object.fromEntries(
      Object.entries(example.headers).map(([name, value]) => [name, names.ours(value)]),
    )
    const answer = await until('no other test has a batch', async () => {
      const sent = await api.call(example.method, names.ours(example.path), body, headers)
      return sent.status !== 429 && sent
    })
    if (example.response === null) expect(answer.status, where).toBe(200)
    else expect(names.asShown(toShown(answer, example.response), example.response), where).toEqual(example.response)
    names.keep()
    return true
  }
  // A request that changes nothing is repeated until the workflow has reached the documented state.
  if (example.method === 'GET' || example.path.includes('/query/'))
    await until(`${where} gets the documented response`, sendAndCompare)
  else await sendAndCompare()
}

/** The response with only the headers that the document shows. */
function toShown({ status, headers, body }: Answer, shown: ShownResponse): ShownResponse {
  const names = Object.keys(shown.headers)
  return { status, headers: Object.fromEntries(names.map((name) => [name, headers.get(name) ?? ''])), body }
}

interface Names {
  /** Replaces the ids of the document by the actual ids. */
  ours(text: string): string
  /** Replaces ids, times and durations by those of the document. */
  asShown(value: unknown, shown: unknown): unknown
  /** Remembers the ids of the last `asShown`. */
  keep(): void
}

function isInstantMs(value: unknown): boolean {
  return typeof value === 'number' && value > YEAR_2000_MS
}

/** Maps ids of the document to actual ids, as responses show them. */
function namesOf(catalog: string): Names {
  const suffix = crypto.randomUUID().slice(0, 8)
  let known = new Map<string, string>()
  let draft = known

  function asShown(value: unknown, shown: unknown): unknown {
    if (typeof value === 'string' && typeof shown === 'string') return textAsShown(value, shown)
    if (isInstantMs(value) && isInstantMs(shown)) return shown
    if (Array.isArray(value))
      return value.map((item, at) => asShown(item, Array.isArray(shown) ? shown[at] : undefined))
    if (!isRecord(value)) return value
    if (isRecord(shown) && Object.hasOwn(shown, LEFT_OUT)) return { ...onlyShown(value, shown), [LEFT_OUT]: LEFT_OUT }
    const likeOf = (key: string) => (isRecord(shown) ? shown[key] : undefined)
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, memberAsShown(key, item, likeOf(key))]))
  }

  function memberAsShown(key: string, item: unknown, like: unknown): unknown {
    // A duration differs each time.
    const isDuration = key.endsWith('Ms') && typeof item === 'number' && typeof like === 'number'
    return isDuration ? like : asShown(item, like)
  }

  function onlyShown(value: Record<string, unknown>, shown: Record<string, unknown>): Record<string, unknown> {
    const keys = Object.keys(shown).filter((key) => Object.hasOwn(value, key))
    return Object.fromEntries(keys.map((key) => [key, asShown(value[key], shown[key])]))
  }

  function textAsShown(value: string, shown: string): string {
    if (shown === LEFT_OUT) return shown
    if (INSTANT.test(value) && INSTANT.test(shown)) return shown
    const shownIds = shown.match(UUID) ?? []
    const waited = WAITED.exec(shown)?.[0] ?? ''
    const text = value.replaceAll(`-${suffix}`, '').replaceAll(catalog, SHOWN_CATALOG).replace(WAITED, waited)
    return text.replace(UUID, (id) => {
      const shownId = shownIds.shift()
      if (shownId === undefined) return id
      const before = draft.get(shownId)
      draft.set(shownId, before ?? id)
      // One id in the document must not stand for two ids in the responses.
      return before === undefined || before === id ? shownId : id
    })
  }

  return {
    ours: (text) =>
      text
        .replace(IDS, (id) => `${id}-${suffix}`)
        .replace(UUID, (id) => known.get(id) ?? id)
        .replaceAll(`catalog=${SHOWN_CATALOG}`, `catalog=${catalog}`),
    asShown(value, shown) {
      draft = new Map(known)
      return asShown(value, shown)
    },
    keep() {
      known = draft
    },
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
