/** Messages of any type, by protobufjs' reflection. */
import fc, { type Arbitrary } from 'fast-check'
import type * as protobuf from 'protobufjs'

type Fields = Record<string, unknown>

// Most types hold others, some themselves.
const MAX_DEPTH = 6
const MAX_FIELDS = 5

/** A few of its fields, one at most of those that exclude each other. */
export function anyMessage(type: protobuf.Type, depth = 0): Arbitrary<Fields> {
  if (type.fullName === '.google.protobuf.Timestamp') return anyTimestamp
  if (type.fullName === '.google.protobuf.Duration') return anyDuration
  const all = type.fieldsArray.map((field) => field.resolve()).filter(hasJson)
  const fields = all.filter(({ resolvedType }) => depth < MAX_DEPTH || !isMessage(resolvedType))
  return fc.subarray(fields, { maxLength: Math.min(MAX_FIELDS, fields.length) }).chain((some) => {
    const groups = some.map(({ partOf, name }) => partOf?.name ?? name)
    const chosen = some.filter((_, index) => groups.indexOf(groups[index] ?? '') === index)
    return fc.record(Object.fromEntries(chosen.map((field) => [field.name, anyValue(field, depth)])))
  })
}

/** What is read of a message, whoever made it: each field, said or not, its numbers and bytes in one form. */
export function fieldsOf(type: protobuf.Type, message: object): Fields {
  const fields = type.fieldsArray.map((field) => field.resolve()).filter(hasJson)
  return Object.fromEntries(fields.map((field) => [field.name, plain(field, (message as Fields)[field.name])]))
}

function plain(field: protobuf.Field, value: unknown): unknown {
  if (field.map) return Object.entries(value as object).map(([key, item]) => [key, plainItem(field, item)])
  return field.repeated ? (value as unknown[]).map((item) => plainItem(field, item)) : plainItem(field, value)
}

function plainItem({ resolvedType, type }: protobuf.Field, value: unknown): unknown {
  if (value === null || value === undefined) return value
  if (isMessage(resolvedType)) return fieldsOf(resolvedType, value as object)
  if (type === 'bytes') return Buffer.from(value as Uint8Array).toString('hex')
  return typeof value === 'object' ? Number(value) : value
}

/** What an `Any` holds is not told by its type. No message that the service sends or reads has a field mask. */
function hasJson({ resolvedType }: protobuf.Field): boolean {
  return !/^\.google\.protobuf\.(?:Any|FieldMask)$/.test(resolvedType?.fullName ?? '')
}

function isMessage(type: protobuf.Type | protobuf.Enum | null): type is protobuf.Type {
  return type !== null && 'fieldsArray' in type
}

function anyValue(field: protobuf.Field, depth: number): Arbitrary<unknown> {
  const item = anyItem(field, depth)
  if (field.map)
    return fc.dictionary('keyType' in field && field.keyType === 'int32' ? fc.nat().map(String) : anyKey, item, {
      maxKeys: 3,
    })
  return field.repeated ? fc.array(item, { maxLength: 3 }) : item
}

const anyKey = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('constructor', 'toString', 'hasOwnProperty'))

function anyItem({ resolvedType, type }: protobuf.Field, depth: number): Arbitrary<unknown> {
  if (isMessage(resolvedType)) return anyMessage(resolvedType, depth + 1)
  if (resolvedType !== null) return fc.constantFrom(...Object.values(resolvedType.values), 99)
  const values: Record<string, Arbitrary<unknown>> = {
    string: fc.string({ unit: 'binary' }),
    bytes: fc.uint8Array(),
    bool: fc.boolean(),
    int32: fc.integer(),
    uint32: fc.nat(),
    int64: fc.maxSafeInteger(),
    float: fc.float().map(withoutMinusZero),
    double: fc.double().map(withoutMinusZero),
  }
  return values[type] ?? fc.constant(undefined)
}

/** Which no JSON of JavaScript's has. */
function withoutMinusZero(number: number): number {
  return number + 0
}

// From the year 1 to the year 9999.
const anyTimestamp = fc.record({
  seconds: fc.integer({ min: -62_135_596_800, max: 253_402_300_799 }),
  nanos: fc.nat(999_999_999),
})

const anyDuration = fc
  .record({ sign: fc.constantFrom(1, -1), seconds: fc.nat(315_576_000_000), nanos: fc.nat(999_999_999) })
  .map(({ sign, seconds, nanos }) => ({ seconds: sign * seconds, nanos: sign * nanos }))
