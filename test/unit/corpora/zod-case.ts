import type * as z from 'zod'

/** A schema, values that zod accepts, and values that both zod and the API reject. */
export type ZodCase = [schema: z.ZodType, accepted: unknown[], rejected?: unknown[]]
