/** `portico types`. */
import { writeFile } from 'node:fs/promises'
import { errorCode } from '../../shared/lib/error-code.ts'
import { type CommonFlags, callService, READ_TIMEOUT_MS } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { UsageError } from '../failures.ts'
import { printNote } from '../output/terminal.ts'
import { catalogModule } from '../typescript/catalog-module.ts'

export async function writeTypes(flags: CommonFlags & { out?: string }): Promise<void> {
  await callService(flags, async ({ client, signal }) => {
    const catalog = await client.catalog(undefined, { signal, timeoutMs: READ_TIMEOUT_MS })
    const source = catalogModule(catalog)
    if (flags.out === undefined) process.stdout.write(source)
    else await write(flags.out, source)
    return EXIT.completed
  })
}

async function write(path: string, source: string): Promise<void> {
  await writeFile(path, source).catch((error: unknown) => {
    throw new UsageError(`--out: the file ${path} cannot be written (${errorCode(error)})`)
  })
  printNote(`Wrote ${path}`)
}
