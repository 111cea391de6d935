import type * as z from 'zod'

/** A schema, values that zod takes for it, and values that neither zod nor the API takes. */
export type ZodCase = [schema: z.ZodType, accepted: unknown[], refused?: unknown[]]
