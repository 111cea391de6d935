import * as z from 'zod/mini'

/**
 * What JSON Schema can say about schemas that check with code: keywords, which are added to those that zod derives
 * itself, or replace them. `undefined` removes one. The OpenAPI document is made from them; no request reads them.
 */
export const jsonForms = z.registry<Readonly<Record<string, unknown>>>()
