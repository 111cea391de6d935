import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { fillTemplate } from '../../../src/protocol/trace-template.ts'

const RUN_ID = '0198c1d0-0000-7000-8000-000000000000'

function filled(workflowId: string, template = '{workflowId}'): Promise<string> {
  return fillTemplate(template, { workflowId, rootRunId: RUN_ID })
}

test('fillTemplate: puts both values in all their places', async () => {
  expect(await filled('orders-17', 'https://b/{workflowId}/{rootRunId}/{workflowId}.json')).toBe(
    `https://b/orders-17/${RUN_ID}/orders-17.json`,
  )
})

test('fillTemplate: leaves other braces as they are', async () => {
  expect(await filled('a', '{runId}{}{workflowid}{workflowId')).toBe('{runId}{}{workflowid}{workflowId')
})

test('fillTemplate: percent-encodes all but letters, digits and -._~', async () => {
  expect(await filled("a/b c?d#e%f!'()*é~-._")).toBe('a%2Fb%20c%3Fd%23e%25f%21%27%28%29%2A%C3%A9~-._')
})

test('fillTemplate: replacement patterns in a value are mere text', async () => {
  expect(await filled("$&$1$`$'$$")).toBe('%24%26%241%24%60%24%27%24%24')
})

test('fillTemplate: a value that looks like a place is not filled', async () => {
  expect(await filled('{rootRunId}')).toBe('%7BrootRunId%7D')
})

test('fillTemplate: takes a value of 120 bytes whole', async () => {
  expect(await filled('x'.repeat(120))).toBe('x'.repeat(120))
})

test('fillTemplate: cuts a longer value at 120 bytes and adds the hash of the whole', async () => {
  const id = 'x'.repeat(121)

  expect(await filled(id)).toBe(`${'x'.repeat(120)}-${sha256(id)}`)
})

test('fillTemplate: counts the bytes as encoded and never cuts an escape', async () => {
  const ids = [40, 119, 118, 117].map((length) => `${'x'.repeat(length)}${'/'.repeat(50)}`)

  expect(await Promise.all(ids.map((id) => filled(id)))).toEqual([
    `${'x'.repeat(40)}${'%2F'.repeat(26)}-${sha256(ids[0])}`,
    `${'x'.repeat(119)}-${sha256(ids[1])}`,
    `${'x'.repeat(118)}-${sha256(ids[2])}`,
    `${'x'.repeat(117)}%2F-${sha256(ids[3])}`,
  ])
})

test('fillTemplate: ids that differ only after the cut have keys that differ', async () => {
  expect(await filled(`${'x'.repeat(150)}a`)).not.toBe(await filled(`${'x'.repeat(150)}b`))
})

function sha256(text: string | undefined): string {
  return createHash('sha256').update(String(text)).digest('hex')
}
