/** Optional fields compile with the tsconfig of docs/workers.md, whatever `exactOptionalPropertyTypes` is. */

import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { bin } from '../../../../dev/servers/runtimes.ts'
import { textOf } from '../../../support/repository.ts'

const CACHE = fileURLToPath(new URL('../../../../.cache/', import.meta.url))

const WORKFLOWS = `
import { defineSignal } from '@temporalio/workflow'
interface Item { sku: string; note?: string; parts?: Item[] }
export const approve = defineSignal<[{ by: string; at?: number }]>('approve')
export async function greet({ name }: { name: string; title?: string }): Promise<{ text: string; of?: string }> {
  return { text: name }
}
export async function order(_: { items: Item[]; address: { city: string; zip?: string }; pair: [string, { a?: 1 }] }): Promise<void> {}
`

const FITS = `
  greet: {
    input: z.object({ name: z.string(), title: z.string().optional() }),
    output: z.object({ text: z.string(), of: z.string().optional() }),
    signals: { approve: { input: z.object({ by: z.string(), at: z.number().optional() }) } },
  },
  order: {
    input: mini.object({
      items: mini.array(mini.object({ sku: mini.string(), note: mini.optional(mini.string()) })),
      address: mini.object({ city: mini.string(), zip: mini.optional(mini.string()) }),
      pair: mini.tuple([mini.string(), mini.object({ a: mini.optional(mini.literal(1)) })]),
    }),
  },`

const fileOf = (catalog: string) => `
import * as z from 'zod'
import * as mini from 'zod/mini'
import { defineCatalog } from '../../src/worker/index.ts'
import type * as workflows from './workflows.ts'

export const used = [z, mini]
export const catalog = defineCatalog<typeof workflows>({ ${catalog} })
`

test.each([false, true])('catalog types: optional fields fit, with exactOptionalPropertyTypes %s', async (isExact) => {
  await mkdir(CACHE, { recursive: true })
  const folder = await mkdtemp(join(CACHE, 'exact-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const ofPage = JSON.parse(/```json\n(\{\s*"compilerOptions"[^`]+)```/.exec(textOf('docs/workers.md'))?.[1] ?? '')
  const files = {
    'workflows.ts': WORKFLOWS,
    'fits.ts': fileOf(FITS),
    'type.ts': fileOf('greet: { input: z.object({ name: z.string(), title: z.number().optional() }) }'),
    'nullable.ts': fileOf('greet: { input: z.object({ name: z.string(), title: z.string().nullable() }) }'),
    'required.ts': fileOf('greet: { input: z.object({ name: z.string().optional() }) }'),
    'tsconfig.json': JSON.stringify({
      compilerOptions: { ...ofPage.compilerOptions, exactOptionalPropertyTypes: isExact },
      include: ['*.ts'],
    }),
  }
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)

  const args = ['--singleThreaded', '--project', folder, '--noEmit', '--pretty', 'false']
  const { stdout = '' } = await promisify(execFile)(bin('tsc'), args, { cwd: folder }).catch((error) => error)

  const own = [...stdout.matchAll(/^(\w+)\.ts\(/gm)].map(([, name]) => name)
  expect([...new Set(own)].toSorted(), stdout).toEqual(['nullable', 'required', 'type'])
})
