/** Two independent validators of OpenAPI documents. */
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Validator } from '@seriousme/openapi-schema-validator'

/** What they find, without Redocly's warnings, which are about style. */
export async function openApiErrors(document: object): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended'] })
  const found = await lintFromString({ source: JSON.stringify(document), config })
  const { valid, errors } = await new Validator().validate({ ...document })
  return [
    ...found
      .filter(({ severity }) => severity === 'error')
      .map(({ ruleId, message, location }) => `redocly ${ruleId}: ${message} ${JSON.stringify(location[0]?.pointer)}`),
    ...(valid ? [] : [`seriousme: ${JSON.stringify(errors)}`]),
  ]
}
