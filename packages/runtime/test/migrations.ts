import type { Db } from 'mongodb';
import type { Migration } from '../src/index.ts';

const DOCUMENTS = 25;
const AT_ONCE = 10;

/** Documents as the release before the first migration wrote them. */
export async function withOldDocuments(db: Db): Promise<void> {
  await db
    .collection<{ _id: number; name: string }>('people')
    .insertMany(
      Array.from({ length: DOCUMENTS }, (_, index) => ({ _id: index, name: `Given${index} Family` })),
    );
}

interface Person {
  _id: number;
  name?: string;
  given?: string;
  family?: string;
  visits?: number;
}

/** Migrations of the usual kinds: one command for all documents, documents one by one in batches, and a field that is dropped. */
export const MIGRATIONS: readonly Migration[] = [
  {
    what: 'each person has a number of visits',
    readableFrom: 1,
    run: async ({ db }) => {
      await db
        .collection<Person>('people')
        .updateMany({ visits: { $exists: false } }, { $set: { visits: 1 } });
    },
  },
  {
    what: 'names have two parts',
    readableFrom: 1,
    run: async ({ db }) => {
      const people = db.collection<Person>('people');
      for (;;) {
        const old = await people
          .find({ given: { $exists: false } })
          .limit(AT_ONCE)
          .toArray();
        if (old.length === 0) return;
        await people.bulkWrite(
          old.map(({ _id, name = '' }) => {
            const [given = '', family = ''] = name.split(' ');
            const filter = { _id, given: { $exists: false } };
            return { updateOne: { filter, update: { $set: { given, family }, $inc: { visits: 1 } } } };
          }),
        );
      }
    },
  },
  {
    what: 'the name in one part is gone',
    readableFrom: 2,
    run: async ({ db }) => {
      await db.collection<Person>('people').updateMany({ name: { $exists: true } }, { $unset: { name: '' } });
    },
  },
];
