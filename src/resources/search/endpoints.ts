import { search } from './search.ts'

export const endpoints = [search]
