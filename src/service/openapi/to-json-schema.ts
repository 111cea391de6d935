import * as z from 'zod/mini'
import { jsonForms } from '../http/endpoints/fields/json-forms.ts'
import type { Schema } from '../http/openapi/schema.ts'

/** What a schema that validates requests accepts, as JSON Schema 2020-12. */
export function zodToJsonSchema(schema: z.core.$ZodType): Schema {
  const { $schema: _, ...jsonSchema } = z.toJSONSchema(schema, {
    io: 'input',
    metadata: jsonForms,
    // Checks that are code are described by `jsonForms`.
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      const { def } = zodSchema._zod
      // The transform does not change the value, so the next schema describes it.
      if (def.type === 'pipe' && isTransform(def.in)) Object.assign(jsonSchema, zodToJsonSchema(def.out))
    },
  })
  return jsonSchema
}

function isTransform(schema: z.core.$ZodType): boolean {
  return schema._zod.def.type === 'transform'
}
