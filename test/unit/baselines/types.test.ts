import { beforeAll, expect, test } from 'vitest'
import { verdictOf } from '../../baselines/differences.ts'
import { compareTypes } from '../../baselines/types.ts'

const BEFORE = `// portico/x: index.d.ts
// portico/gone: gone.d.ts
// gone.d.ts
export {};
// index.d.ts
import type { ErrorName } from './names.js';
export type { ErrorName };
interface Options { name: string; deep?: { on: boolean } }
interface Client { read(options: { id: string }): { value: string; other: number }; by<K extends 'a' | 'b'>(key: K): { at: K } }
export declare function create(options: Options): Client;
export declare function removed(): void;
export declare function narrower(value: string | number): void;
export declare function demanding(options: Options): void;
export declare function wider(value: string): { a: string };
export declare function failing(): ErrorName;
export declare const method: { call(options: { id: string }): void };
export declare const generic: Pick<Client, 'by'>;
export interface Read { id: string }
export interface Changed { id: string }
export interface Gone { id: string }
// names.d.ts
export type ErrorName = 'A' | 'B';
`

const NOW = `// portico/x: main.d.ts
// main.d.ts
import type { ErrorName } from './names.js';
export type { ErrorName };
interface Options { name: string; deep?: { on: boolean; more?: string }; another?: number }
interface Client { read(options: { id: string; at?: string }): { value: string; other: number; more: string }; by<K extends 'a' | 'b'>(key: K): { at: K } }
export declare function create(options: Options): Client;
export declare function added(): void;
export declare function narrower(value: string): void;
export declare function demanding(options: Options & { secret: string }): void;
export declare function wider(value: string | number): { a: string; b: string };
export declare function failing(): ErrorName;
export declare const method: { call(options: { id: string; secret: string }): void };
export declare const generic: { by<K extends 'a'>(key: K): { at: K } };
export interface Read { id: string; more: string }
export interface Changed { id: number }
// names.d.ts
export type ErrorName = 'A' | 'B' | 'C';
`

let verdicts: string[]
beforeAll(async () => {
  const differences = await compareTypes(BEFORE, NOW)
  verdicts = differences.map(verdictOf)
})

const nameOf = (verdict: string) => verdict.split(': ', 2).join(': ')

test('types: what is removed, and what programs can no longer be compiled with, breaks', () => {
  const broken = verdicts.filter((verdict) => verdict.startsWith('breaks: ')).map(nameOf)

  expect(broken.toSorted()).toEqual([
    'breaks: portico/gone',
    'breaks: portico/x Changed',
    'breaks: portico/x Gone',
    'breaks: portico/x demanding',
    'breaks: portico/x generic',
    'breaks: portico/x method',
    'breaks: portico/x narrower',
    'breaks: portico/x removed',
  ])
})

test('types: a new export, an optional field, a wider parameter, another result field and error name do not', () => {
  expect(verdicts.filter((verdict) => verdict.startsWith('adds: '))).toEqual(['adds: portico/x added: is new'])
})

test('types: a compatible change is reported once', async () => {
  const now = BEFORE.replace('name: string;', 'name: string; alias?: string;')

  expect(await compareTypes(BEFORE, now)).toEqual([
    { breaks: false, name: 'types', how: 'have changed, and programs still compile' },
  ])
})
