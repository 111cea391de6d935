/** Reads, stops and lists batches. */
import { type Batch, type BatchPage, batchNotFound, type OnBatch } from '../model/batch.ts'
import type { Call } from '../model/call.ts'
import type { ListBatchesCommand, StopBatchCommand } from '../model/commands.ts'
import { enginePage } from '../model/page-token.ts'
import type { Ports } from '../ports.ts'

export async function readBatch({ engine }: Pick<Ports, 'engine'>, { batchId }: OnBatch, call: Call): Promise<Batch> {
  const found = await engine.describeBatch(batchId, call)
  if (found === null) throw batchNotFound(batchId)
  const { request: _, ...batch } = found
  return batch
}

/** What it has done is not undone. */
export async function stopBatch(ports: Pick<Ports, 'engine'>, { batchId, reason }: StopBatchCommand, call: Call) {
  const stopped = await ports.engine.stopBatch(batchId, reason ?? 'stopped', call)
  if (!stopped) await readBatch(ports, { batchId }, call)
  return { batchId, stopped }
}

export async function listBatches(
  { engine, catalogs: { namespace } }: Pick<Ports, 'catalogs' | 'engine'>,
  page: ListBatchesCommand,
  call: Call,
): Promise<BatchPage> {
  return enginePage({ namespace, batches: {} }, page, (from) => engine.listBatches(from, call))
}
