import { expect, test } from 'vitest'
import type { TraceEntry } from '../../../../src/shared/wire/trace/entry.ts'
import { toTraceTree } from '../../../../src/shared/wire/trace/tree.ts'
import { span, withSpanContext } from '../../../../src/worker/tracing/span.ts'

test('span: runs the function without recording it outside a traced activity', async () => {
  const result = await span('llm', 'write', { model: 'm' }, (call) => {
    call.set({ tokens: 1 })
    call.input('prompt')
    return 'text'
  })

  expect(result).toBe('text')
})

test('span: records the input, the output and all attributes', async () => {
  const { children } = await traced(() =>
    span('llm', 'write', { model: 'm' }, async (call) => {
      call.input('prompt')
      call.set({ tokens: 1 })
      call.set({ tokens: 2 })
      return 'text'
    }),
  )

  expect(children).toMatchObject([
    {
      kind: 'llm',
      name: 'write',
      input: 'prompt',
      output: 'text',
      error: null,
      attributes: { model: 'm', tokens: 2, attempt: 2 },
      children: [],
    },
  ])
  expect(children[0]?.endedAt).not.toBeNull()
})

test('span: attributes are optional', async () => {
  const { children } = await traced(() => span('http', 'GET', async () => 200))

  expect(children).toMatchObject([{ kind: 'http', name: 'GET', output: 200 }])
})

test('span: nests inside concurrent code and called functions', async () => {
  const inner = (name: string) => span('http', name, async () => await Promise.resolve(name))

  const { children } = await traced(async () => {
    await Promise.all([
      span('llm', 'a', async () => {
        await Promise.all([inner('a1'), inner('a2')])
      }),
      span('llm', 'b', async () => {
        await new Promise((resolve) => setImmediate(resolve))
        await inner('b1')
      }),
    ])
    await inner('c')
  })

  const names = (name: string) => children.find((node) => node.name === name)?.children.map((node) => node.name)
  expect(children.map(({ name }) => name).toSorted()).toEqual(['a', 'b', 'c'])
  expect(names('a')?.toSorted()).toEqual(['a1', 'a2'])
  expect(names('b')).toEqual(['b1'])
})

test('span: rethrows an error and records it with its causes but without a stack', async () => {
  const failure = new TypeError('no', { cause: new Error('why') })

  const { children, thrown } = await traced(() =>
    span('http', 'POST', () => {
      throw failure
    }),
  )

  expect(thrown).toBe(failure)
  expect(children).toMatchObject([
    {
      output: null,
      error: { name: 'TypeError', message: 'no', cause: { name: 'Error', message: 'why', cause: null } },
    },
  ])
  expect(JSON.stringify(children)).not.toContain('span.test')
})

test('span: rethrows any value, even one that cannot be read', async () => {
  const withoutText: unknown = Object.create(null)
  const withTrap = Object.defineProperty(new Error('no'), 'cause', {
    get() {
      throw new Error('a trap')
    },
  })

  for (const failure of [withoutText, withTrap]) {
    const { children, thrown } = await traced(() =>
      span('http', 'POST', () => {
        throw failure
      }),
    )

    expect(thrown).toBe(failure)
    expect(children).toMatchObject([{ error: { name: 'Error', message: 'The thrown value cannot be read' } }])
  }
})

test('span: a span that has not ended has no end time', async () => {
  const entries: TraceEntry[] = []

  void withSpanContext(activityThatRecordsIn(entries), () => span('llm', 'write', () => new Promise(() => {})))

  expect(entries.map(({ phase }) => phase)).toEqual(['began'])
})

function activityThatRecordsIn(entries: TraceEntry[]) {
  const record = (_run: unknown, entry: TraceEntry) => void entries.push(entry)
  return { run: { namespace: 'default', runId: 'r' }, parentId: 'r:step:1', attempt: 2, record }
}

async function traced(activity: () => Promise<unknown>) {
  const entries: TraceEntry[] = [{ id: 'r:step:1', parentId: null, kind: 'step', name: 'step', at: 0, phase: 'began' }]
  const thrown = await withSpanContext(activityThatRecordsIn(entries), activity).then(
    () => null,
    (error: unknown) => error,
  )
  return { children: toTraceTree(entries)?.children ?? [], thrown }
}
