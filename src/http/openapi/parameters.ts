import * as z from 'zod/mini'
import { catalogName } from '../routes/fields/names.ts'

export const openApiParameters = z.strictObject({ catalog: z.exactOptional(catalogName) })
