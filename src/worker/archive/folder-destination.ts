import { link, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { errorCode } from '../../lib/error-code.ts'
import { TRACE_TEMPLATE } from '../../protocol/trace/keys.ts'
import { fillTemplate } from '../../protocol/trace/template.ts'
import type { SpanRun } from '../tracing/span.ts'
import type { TraceDestination } from './trace-destination.ts'

/** A folder with one file per run. Readers never see a partly written file. */
export function folderDestination(directory: string): TraceDestination {
  const pathOf = (run: SpanRun) => join(directory, fillTemplate(TRACE_TEMPLATE, run))
  return {
    name: `folder ${directory}`,
    has: async (run) => (await versionOf(pathOf(run))) !== null,
    async read(run, maxBytes) {
      const path = pathOf(run)
      const version = await versionOf(path)
      if (version === null) return null
      if (Number(version.split(':')[0]) > maxBytes) throw new Error(`The file is larger than ${maxBytes} bytes`)
      return { text: await readFile(path, 'utf8'), version }
    },
    async write(run, text, version) {
      const path = pathOf(run)
      await mkdir(dirname(path), { recursive: true })
      const draft = join(directory, `.${crypto.randomUUID()}.draft`)
      try {
        await writeFile(draft, text, { flag: 'wx' })
        // Unlike a rename, a link fails if the file exists.
        if (version === null) return await link(draft, path).then(() => true, falseIfExists)
        if ((await versionOf(path)) !== version) return false
        await rename(draft, path)
        return true
      } finally {
        await rm(draft, { force: true })
      }
    },
    check: async () => void (await mkdir(directory, { recursive: true })),
  }
}

/** Null if the file does not exist. */
async function versionOf(path: string): Promise<string | null> {
  try {
    const { size, mtimeMs, ino } = await stat(path)
    return `${size}:${mtimeMs}:${ino}`
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null
    throw error
  }
}

function falseIfExists(error: unknown): false {
  if (errorCode(error) === 'EEXIST') return false
  throw error
}
