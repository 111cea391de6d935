import { expect, test } from 'vitest'
import { readText } from '../../../../src/shared/lib/read-text.ts'

test('readText: returns a body of up to maxBytes as a string', async () => {
  expect(await readText(new Response('Zoë'), 4)).toEqual({ text: 'Zoë', isTruncated: false })
  expect(await readText(new Response(null), 0)).toEqual({ text: '', isTruncated: false })
})

test('readText: a character that two chunks share is one character', async () => {
  const [first = 0, second = 0] = new TextEncoder().encode('ë')

  expect(await readText(new Response(streamOf([first], [second])), 10)).toMatchObject({ text: 'ë' })
})

test('readText: a larger body is null, and the rest of it is cancelled', async () => {
  let cancelled = false
  const endless = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: (controller) => controller.enqueue(new Uint8Array(10)),
    cancel: () => {
      cancelled = true
    },
  })

  expect(await readText(new Response(endless), 25)).toBeNull()
  expect(cancelled).toBe(true)
})

test('readText: a body shorter than its Content-Length is truncated, unless it is encoded', async () => {
  const plain = new Response('four', { headers: { 'content-length': '5' } })
  const encoded = new Response('four', { headers: { 'content-length': '5', 'content-encoding': 'gzip' } })

  expect(await readText(plain, 10)).toEqual({ text: 'four', isTruncated: true })
  expect(await readText(encoded, 10)).toEqual({ text: 'four', isTruncated: false })
})

function streamOf(...chunks: number[][]): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(new Uint8Array(chunk))
      controller.close()
    },
  })
}
