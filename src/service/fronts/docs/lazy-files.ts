import { lazy } from '../../../shared/lib/cache.ts'
import type { ReadPageFile } from '../../http/page-files.ts'

const files = lazy(
  () => import('./files.ts'),
  (module) => module.readDocsFile,
)

/** Reads a file of the reference page. The files are loaded with the first request for one of them (decision 020). */
export const readDocsFile: ReadPageFile = async (name) => (await files.get())(name)
