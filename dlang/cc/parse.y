/*
 * The grammar of D.  Actions build nodes and nothing else, with two
 * exceptions: the name of a typedef is told to the scanner, and the two forms
 * of a clause that a script may not use are refused here, where they show.
 */
%define api.pure full
%define api.location.type {struct span}
%define api.prefix {dcc_}
%define parse.error verbose
%expect 0
%locations
%lex-param {void *scanner}
%parse-param {struct lexer *lx} {void *scanner}

%code requires {
#include "dlang/cc/lex.h"
}

%code provides {
int lex_token(DCC_STYPE *lv, struct span *loc, void *scanner);
}

%code {
#include <errno.h>
#include <string.h>

#define dcc_lex lex_token

#define YYLLOC_DEFAULT(cur, rhs, n)                                            \
	((cur) = (n) > 0 ? span_join(&YYRHSLOC(rhs, 1), &YYRHSLOC(rhs, n)) :   \
			   YYRHSLOC(rhs, 0))

static void dcc_error(struct span *at, struct lexer *lx, void *scanner,
    const char *what);
static struct node *mk(struct lexer *lx, enum node_kind kind,
    const struct span *at, struct node *a, struct node *b, struct node *c);
static struct node *mk_op(struct lexer *lx, enum node_kind kind,
    const struct span *at, enum oper op, struct node *a, struct node *b);
static struct node *mk_name(struct lexer *lx, enum node_kind kind,
    const struct span *at, const char *name);
static struct node *mk_list(struct lexer *lx, enum node_kind kind,
    const struct span *at, struct node *a, struct nlist list);
static struct nlist list_of(struct node *n);
static struct nlist list_add(struct nlist l, struct node *n);
static struct node *spec_word(struct lexer *lx, struct node *specs,
    unsigned word, const struct span *at);
static struct node *spec_storage(struct lexer *lx, struct node *specs,
    unsigned class, const struct span *at);
static struct node *spec_tag(struct lexer *lx, struct node *specs,
    struct node *tag, const struct span *at);
static struct node *spec_name(struct lexer *lx, struct node *specs,
    const char *name, const struct span *at);
static struct node *point(struct lexer *lx, const struct span *at,
    struct node *inner);
static struct node *in_pointers(struct node *pointers, struct node *direct);
static void note_typedef(struct lexer *lx, struct node *decl);
static const char *tag_key(
    struct lexer *lx, unsigned word, const char *tag);
static void refuse_twice(struct lexer *lx, const struct span *at,
    unsigned word, const char *tag);
static void refuse_form(struct lexer *lx, const struct span *at, bool pred);
}

%union {
	struct node *node;
	struct nlist list;
	const char *name;
	unsigned word;
}

%token <node> INT "integer" STRING "string"
%token <name> IDENT "identifier" TNAME "type name" AGG "aggregation"
%token <name> PSPEC "probe description"
%token PRED "/ of a predicate" PRED_END "/"
%token BAD KEYWORD OUTER_DECL
%token <name> AUTO CHAR CONST DOUBLE ELSE ENUM EXTERN FLOAT IF INLINE INT_WORD
%token <name> LONG OFFSETOF PROBE PROVIDER REGISTER RESTRICT SELF SHORT SIGNED
%token <name> SIZEOF STATIC STRINGOF STRUCT THIS TRANSLATOR TYPEDEF UNION
%token <name> UNSIGNED USERLAND VOID VOLATILE XLATE
%token ELLIPSIS ARROW INC DEC SHL SHR LE GE EQ NE LAND LXOR LOR
%token SHL_SET SHR_SET ADD_SET SUB_SET MUL_SET DIV_SET MOD_SET AND_SET XOR_SET
%token OR_SET

%precedence THEN
%precedence ELSE
%left LOR
%left LXOR
%left LAND
%left '|'
%left '^'
%left '&'
%left EQ NE
%left '<' '>' LE GE
%left SHL SHR
%left '+' '-'
%left '*' '/' '%'

%type <node> clause block stmt blk if_stmt decl inline translator provider
%type <node> expr assign cond binary cast unary postfix primary
%type <node> type_name dspecs tspecs pspec_list_specs sou enum
%type <node> declarator direct abstract adirect pointers param mdecl
%type <node> mdeclarator enumerator xmember probe specword
%type <list> program pspecs stmts args declarators params mdecls mdeclarators
%type <list> enumerators xmembers probes param_list
%type <word> set_op typeword qualifier storage pstorage sou_word

%initial-action { @$ = lx->span; }

%%

start
	: program
		{ lx->program = mk_list(lx, N_PROGRAM, &@1, NULL, $1); }
	;

program
	: %empty		{ $$ = (struct nlist){ 0 }; }
	| program clause	{ $$ = list_add($1, $2); }
	| program decl		{ $$ = list_add($1, $2); }
	| program inline	{ $$ = list_add($1, $2); }
	| program translator	{ $$ = list_add($1, $2); }
	| program provider	{ $$ = list_add($1, $2); }
	;

/* ---- clauses ---- */

clause
	: pspecs
		{
			refuse_form(lx, &@$, false);
			$$ = mk_list(lx, N_CLAUSE, &@$, NULL, $1);
		}
	| pspecs block
		{
			$$ = mk_list(lx, N_CLAUSE, &@$, NULL, $1);
			$$->b = $2;
		}
	| pspecs PRED expr PRED_END
		{
			refuse_form(lx, &@$, true);
			$$ = mk_list(lx, N_CLAUSE, &@$, $3, $1);
		}
	| pspecs PRED expr PRED_END block
		{
			$$ = mk_list(lx, N_CLAUSE, &@$, $3, $1);
			$$->b = $5;
		}
	;

pspecs
	: PSPEC		{ $$ = list_of(mk_name(lx, N_PDESC, &@1, $1)); }
	| pspecs ',' PSPEC
		{ $$ = list_add($1, mk_name(lx, N_PDESC, &@3, $3)); }
	;

block
	: '{' stmts '}'		{ $$ = mk_list(lx, N_BLOCK, &@$, NULL, $2); }
	| '{' stmts expr '}'
		{
			struct node *last = mk(lx, N_EXPR, &@3, $3, NULL, NULL);
			$$ = mk_list(lx, N_BLOCK, &@$, NULL,
			    list_add($2, last));
		}
	;

stmts
	: %empty		{ $$ = (struct nlist){ 0 }; }
	| stmts stmt		{ $$ = $2 != NULL ? list_add($1, $2) : $1; }
	;

stmt
	: ';'			{ $$ = NULL; }
	| expr ';'		{ $$ = mk(lx, N_EXPR, &@1, $1, NULL, NULL); }
	| if_stmt
	;

if_stmt
	: IF '(' expr ')' blk %prec THEN
		{ $$ = mk(lx, N_IF, &@$, $3, $5, NULL); }
	| IF '(' expr ')' blk ELSE blk
		{ $$ = mk(lx, N_IF, &@$, $3, $5, $7); }
	;

blk
	: block
	| stmt
		{
			struct nlist l = { 0 };
			$$ = mk_list(lx, N_BLOCK, &@$, NULL,
			    $1 != NULL ? list_of($1) : l);
		}
	;

/* ---- expressions ---- */

expr
	: assign
	| expr ',' assign	{ $$ = mk(lx, N_COMMA, &@$, $1, $3, NULL); }
	;

assign
	: cond
	| unary set_op assign
		{ $$ = mk_op(lx, N_ASSIGN, &@$, (enum oper)$2, $1, $3); }
	;

set_op
	: '='		{ $$ = O_SET; }
	| ADD_SET	{ $$ = O_ADD; }
	| SUB_SET	{ $$ = O_SUB; }
	| MUL_SET	{ $$ = O_MUL; }
	| DIV_SET	{ $$ = O_DIV; }
	| MOD_SET	{ $$ = O_MOD; }
	| AND_SET	{ $$ = O_AND; }
	| XOR_SET	{ $$ = O_XOR; }
	| OR_SET	{ $$ = O_OR; }
	| SHL_SET	{ $$ = O_SHL; }
	| SHR_SET	{ $$ = O_SHR; }
	;

cond
	: binary
	| binary '?' expr ':' cond
		{ $$ = mk(lx, N_COND, &@$, $1, $3, $5); }
	;

binary
	: cast
	| binary '+' binary  { $$ = mk_op(lx, N_BINARY, &@$, O_ADD, $1, $3); }
	| binary '-' binary  { $$ = mk_op(lx, N_BINARY, &@$, O_SUB, $1, $3); }
	| binary '*' binary  { $$ = mk_op(lx, N_BINARY, &@$, O_MUL, $1, $3); }
	| binary '/' binary  { $$ = mk_op(lx, N_BINARY, &@$, O_DIV, $1, $3); }
	| binary '%' binary  { $$ = mk_op(lx, N_BINARY, &@$, O_MOD, $1, $3); }
	| binary SHL binary  { $$ = mk_op(lx, N_BINARY, &@$, O_SHL, $1, $3); }
	| binary SHR binary  { $$ = mk_op(lx, N_BINARY, &@$, O_SHR, $1, $3); }
	| binary '<' binary  { $$ = mk_op(lx, N_BINARY, &@$, O_LT, $1, $3); }
	| binary '>' binary  { $$ = mk_op(lx, N_BINARY, &@$, O_GT, $1, $3); }
	| binary LE binary   { $$ = mk_op(lx, N_BINARY, &@$, O_LE, $1, $3); }
	| binary GE binary   { $$ = mk_op(lx, N_BINARY, &@$, O_GE, $1, $3); }
	| binary EQ binary   { $$ = mk_op(lx, N_BINARY, &@$, O_EQ, $1, $3); }
	| binary NE binary   { $$ = mk_op(lx, N_BINARY, &@$, O_NE, $1, $3); }
	| binary '&' binary  { $$ = mk_op(lx, N_BINARY, &@$, O_AND, $1, $3); }
	| binary '^' binary  { $$ = mk_op(lx, N_BINARY, &@$, O_XOR, $1, $3); }
	| binary '|' binary  { $$ = mk_op(lx, N_BINARY, &@$, O_OR, $1, $3); }
	| binary LAND binary { $$ = mk_op(lx, N_BINARY, &@$, O_LAND, $1, $3); }
	| binary LXOR binary { $$ = mk_op(lx, N_BINARY, &@$, O_LXOR, $1, $3); }
	| binary LOR binary  { $$ = mk_op(lx, N_BINARY, &@$, O_LOR, $1, $3); }
	;

cast
	: unary
	| '(' type_name ')' cast
		{ $$ = mk(lx, N_CAST, &@$, $2, $4, NULL); }
	;

unary
	: postfix
	| INC unary	{ $$ = mk_op(lx, N_UNARY, &@$, O_INC, $2, NULL); }
	| DEC unary	{ $$ = mk_op(lx, N_UNARY, &@$, O_DEC, $2, NULL); }
	| '&' cast	{ $$ = mk_op(lx, N_UNARY, &@$, O_ADDR, $2, NULL); }
	| '*' cast	{ $$ = mk_op(lx, N_UNARY, &@$, O_DEREF, $2, NULL); }
	| '+' cast	{ $$ = mk_op(lx, N_UNARY, &@$, O_PLUS, $2, NULL); }
	| '-' cast	{ $$ = mk_op(lx, N_UNARY, &@$, O_NEG, $2, NULL); }
	| '~' cast	{ $$ = mk_op(lx, N_UNARY, &@$, O_COMPL, $2, NULL); }
	| '!' cast	{ $$ = mk_op(lx, N_UNARY, &@$, O_NOT, $2, NULL); }
	| STRINGOF unary
		{ $$ = mk_op(lx, N_UNARY, &@$, O_STRINGOF, $2, NULL); }
	| SIZEOF unary	{ $$ = mk(lx, N_SIZEOF, &@$, $2, NULL, NULL); }
	| SIZEOF '(' type_name ')'
		{ $$ = mk(lx, N_SIZEOF, &@$, NULL, $3, NULL); }
	;

postfix
	: primary
	| postfix '[' args ']'
		{ $$ = mk_list(lx, N_INDEX, &@$, $1, $3); }
	| postfix '(' ')'
		{
			$$ = mk_list(lx, N_CALL, &@$, $1,
			    (struct nlist){ 0 });
		}
	| postfix '(' args ')'
		{ $$ = mk_list(lx, N_CALL, &@$, $1, $3); }
	| postfix '.' IDENT
		{
			$$ = mk_op(lx, N_MEMBER, &@$, O_DOT, $1, NULL);
			$$->name = $3;
		}
	| postfix ARROW IDENT
		{
			$$ = mk_op(lx, N_MEMBER, &@$, O_ARROW, $1, NULL);
			$$->name = $3;
		}
	| postfix INC	{ $$ = mk_op(lx, N_POSTFIX, &@$, O_INC, $1, NULL); }
	| postfix DEC	{ $$ = mk_op(lx, N_POSTFIX, &@$, O_DEC, $1, NULL); }
	| OFFSETOF '(' type_name ',' IDENT ')'
		{
			$$ = mk(lx, N_OFFSETOF, &@$, $3, NULL, NULL);
			$$->name = $5;
		}
	| XLATE '<' type_name '>' '(' expr ')'
		{ $$ = mk(lx, N_XLATE, &@$, $3, $6, NULL); }
	;

primary
	: IDENT			{ $$ = mk_name(lx, N_NAME, &@1, $1); }
	| AGG			{ $$ = mk_name(lx, N_AGG, &@1, $1); }
	| INT
	| STRING
	| SELF			{ $$ = mk(lx, N_SELF, &@1, NULL, NULL, NULL); }
	| THIS			{ $$ = mk(lx, N_THIS, &@1, NULL, NULL, NULL); }
	| '(' expr ')'		{ $$ = $2; }
	;

args
	: assign		{ $$ = list_of($1); }
	| args ',' assign	{ $$ = list_add($1, $3); }
	;

/* ---- declarations ---- */

decl
	: dspecs ';'
		{ $$ = mk(lx, N_DECL, &@$, $1, NULL, NULL); }
	| dspecs declarators ';'
		{
			$$ = mk_list(lx, N_DECL, &@$, $1, $2);
			note_typedef(lx, $$);
		}
	;

declarators
	: declarator			{ $$ = list_of($1); }
	| declarators ',' declarator	{ $$ = list_add($1, $3); }
	;

inline
	: INLINE dspecs declarator '=' assign ';'
		{ $$ = mk(lx, N_INLINEDEF, &@$, $2, $3, $5); }
	| INLINE dspecs ';'
		{ $$ = mk(lx, N_INLINEDEF, &@$, $2, NULL, NULL); }
	;

dspecs
	: storage		{ $$ = spec_storage(lx, NULL, $1, &@1); }
	| specword
	| dspecs storage	{ $$ = spec_storage(lx, $1, $2, &@$); }
	| dspecs typeword	{ $$ = spec_word(lx, $1, $2, &@$); }
	| dspecs qualifier	{ $$ = spec_word(lx, $1, $2, &@$); }
	| dspecs sou		{ $$ = spec_tag(lx, $1, $2, &@$); }
	| dspecs enum		{ $$ = spec_tag(lx, $1, $2, &@$); }
	| dspecs TNAME		{ $$ = spec_name(lx, $1, $2, &@$); }
	;

tspecs
	: specword
	| tspecs typeword	{ $$ = spec_word(lx, $1, $2, &@$); }
	| tspecs qualifier	{ $$ = spec_word(lx, $1, $2, &@$); }
	| tspecs sou		{ $$ = spec_tag(lx, $1, $2, &@$); }
	| tspecs enum		{ $$ = spec_tag(lx, $1, $2, &@$); }
	| tspecs TNAME		{ $$ = spec_name(lx, $1, $2, &@$); }
	;

/* Parameters: `self' and `this' would begin an expression here. */
pspec_list_specs
	: pstorage		{ $$ = spec_storage(lx, NULL, $1, &@1); }
	| specword
	| pspec_list_specs pstorage
		{ $$ = spec_storage(lx, $1, $2, &@$); }
	| pspec_list_specs typeword	{ $$ = spec_word(lx, $1, $2, &@$); }
	| pspec_list_specs qualifier	{ $$ = spec_word(lx, $1, $2, &@$); }
	| pspec_list_specs sou		{ $$ = spec_tag(lx, $1, $2, &@$); }
	| pspec_list_specs enum		{ $$ = spec_tag(lx, $1, $2, &@$); }
	| pspec_list_specs TNAME	{ $$ = spec_name(lx, $1, $2, &@$); }
	;

specword
	: typeword		{ $$ = spec_word(lx, NULL, $1, &@1); }
	| qualifier		{ $$ = spec_word(lx, NULL, $1, &@1); }
	| sou			{ $$ = spec_tag(lx, NULL, $1, &@1); }
	| enum			{ $$ = spec_tag(lx, NULL, $1, &@1); }
	| TNAME			{ $$ = spec_name(lx, NULL, $1, &@1); }
	;

storage
	: pstorage
	| SELF			{ $$ = C_SELF; }
	| THIS			{ $$ = C_THIS; }
	;

pstorage
	: AUTO			{ $$ = C_AUTO; }
	| REGISTER		{ $$ = C_REGISTER; }
	| STATIC		{ $$ = C_STATIC; }
	| EXTERN		{ $$ = C_EXTERN; }
	| TYPEDEF		{ $$ = C_TYPEDEF; }
	;

typeword
	: VOID			{ $$ = W_VOID; }
	| CHAR			{ $$ = W_CHAR; }
	| SHORT			{ $$ = W_SHORT; }
	| INT_WORD		{ $$ = W_INT; }
	| LONG			{ $$ = W_LONG; }
	| FLOAT			{ $$ = W_FLOAT; }
	| DOUBLE		{ $$ = W_DOUBLE; }
	| SIGNED		{ $$ = W_SIGNED; }
	| UNSIGNED		{ $$ = W_UNSIGNED; }
	;

qualifier
	: CONST			{ $$ = W_CONST; }
	| VOLATILE		{ $$ = W_VOLATILE; }
	| RESTRICT		{ $$ = W_RESTRICT; }
	| USERLAND		{ $$ = W_USERLAND; }
	;

sou
	: sou_word IDENT
		{
			$$ = mk_name(lx, N_SOU, &@$, $2);
			$$->op = (uint8_t)$1;
		}
	| sou_word IDENT '{' { refuse_twice(lx, &@3, $1, $2); } mdecls '}'
		{
			$$ = mk_list(lx, N_SOU, &@$, NULL, $5);
			hash_set_str(&lx->tags, tag_key(lx, $1, $2), lx);
			$$->span.ahead = @3.line - @$.line;
			$$->op = (uint8_t)$1;
			$$->name = $2;
			$$->has_body = true;
		}
	| sou_word '{' mdecls '}'
		{
			$$ = mk_list(lx, N_SOU, &@$, NULL, $3);
			$$->span.ahead = @2.line - @$.line;
			$$->op = (uint8_t)$1;
			$$->has_body = true;
		}
	;

sou_word
	: STRUCT		{ $$ = O_STRUCT; }
	| UNION			{ $$ = O_UNION; }
	;

mdecls
	: mdecl			{ $$ = list_of($1); }
	| mdecls mdecl		{ $$ = list_add($1, $2); }
	;

mdecl
	: tspecs ';'		{ $$ = mk(lx, N_DECL, &@$, $1, NULL, NULL); }
	| tspecs mdeclarators ';'
		{ $$ = mk_list(lx, N_DECL, &@$, $1, $2); }
	;

mdeclarators
	: mdeclarator			{ $$ = list_of($1); }
	| mdeclarators ',' mdeclarator	{ $$ = list_add($1, $3); }
	;

mdeclarator
	: declarator
	| ':' cond
		{
			struct node *none = mk_name(lx, N_DNAME, &@1, NULL);
			$$ = mk(lx, N_DBITS, &@$, none, $2, NULL);
		}
	| declarator ':' cond	{ $$ = mk(lx, N_DBITS, &@$, $1, $3, NULL); }
	;

enum
	: ENUM IDENT		{ $$ = mk_name(lx, N_ENUM, &@$, $2); }
	| ENUM IDENT '{' enumerators '}'
		{
			$$ = mk_list(lx, N_ENUM, &@$, NULL, $4);
			$$->name = $2;
			$$->has_body = true;
		}
	| ENUM '{' enumerators '}'
		{
			$$ = mk_list(lx, N_ENUM, &@$, NULL, $3);
			$$->has_body = true;
		}
	;

enumerators
	: enumerator			{ $$ = list_of($1); }
	| enumerators ',' enumerator	{ $$ = list_add($1, $3); }
	;

enumerator
	: IDENT			{ $$ = mk_name(lx, N_ENUMERATOR, &@1, $1); }
	| IDENT '=' cond
		{
			$$ = mk(lx, N_ENUMERATOR, &@$, $3, NULL, NULL);
			$$->name = $1;
		}
	;

declarator
	: direct
	| pointers direct	{ $$ = in_pointers($1, $2); }
	;

/* A chain of N_DPOINTER; the innermost has no `a' yet. */
pointers
	: '*'			{ $$ = point(lx, &@1, NULL); }
	| pointers '*'		{ $$ = point(lx, &@$, $1); }
	| pointers qualifier	{ $$ = $1; }
	;

direct
	: IDENT			{ $$ = mk_name(lx, N_DNAME, &@1, $1); }
	| '(' declarator ')'	{ $$ = $2; }
	| direct '[' ']'	{ $$ = mk(lx, N_DARRAY, &@$, $1, NULL, NULL); }
	| direct '[' cond ']'	{ $$ = mk(lx, N_DARRAY, &@$, $1, $3, NULL); }
	| direct '[' param_list ']'
		{ $$ = mk_list(lx, N_DARRAY, &@$, $1, $3); }
	| direct '(' params ')'
		{ $$ = mk_list(lx, N_DFUNC, &@$, $1, $3); }
	;

abstract
	: pointers
		{
			struct node *none = mk_name(lx, N_DNAME, &@1, NULL);
			$$ = in_pointers($1, none);
		}
	| adirect
	| pointers adirect	{ $$ = in_pointers($1, $2); }
	;

adirect
	: '(' abstract ')'	{ $$ = $2; }
	| '[' ']'
		{
			struct node *none = mk_name(lx, N_DNAME, &@1, NULL);
			$$ = mk(lx, N_DARRAY, &@$, none, NULL, NULL);
		}
	| '[' cond ']'
		{
			struct node *none = mk_name(lx, N_DNAME, &@1, NULL);
			$$ = mk(lx, N_DARRAY, &@$, none, $2, NULL);
		}
	| '[' param_list ']'
		{
			struct node *none = mk_name(lx, N_DNAME, &@1, NULL);
			$$ = mk_list(lx, N_DARRAY, &@$, none, $2);
		}
	| '(' params ')'
		{
			struct node *none = mk_name(lx, N_DNAME, &@1, NULL);
			$$ = mk_list(lx, N_DFUNC, &@$, none, $2);
		}
	| adirect '[' ']'	{ $$ = mk(lx, N_DARRAY, &@$, $1, NULL, NULL); }
	| adirect '[' cond ']'	{ $$ = mk(lx, N_DARRAY, &@$, $1, $3, NULL); }
	| adirect '[' param_list ']'
		{ $$ = mk_list(lx, N_DARRAY, &@$, $1, $3); }
	| adirect '(' params ')'
		{ $$ = mk_list(lx, N_DFUNC, &@$, $1, $3); }
	;

params
	: %empty		{ $$ = (struct nlist){ 0 }; }
	| param_list
	;

param_list
	: param			{ $$ = list_of($1); }
	| param_list ',' param	{ $$ = list_add($1, $3); }
	;

param
	: ELLIPSIS
		{ $$ = mk(lx, N_PARAM, &@1, NULL, NULL, NULL); }
	| pspec_list_specs
		{ $$ = mk(lx, N_PARAM, &@$, $1, NULL, NULL); }
	| pspec_list_specs declarator
		{ $$ = mk(lx, N_PARAM, &@$, $1, $2, NULL); }
	| pspec_list_specs abstract
		{ $$ = mk(lx, N_PARAM, &@$, $1, $2, NULL); }
	;

type_name
	: tspecs		{ $$ = mk(lx, N_TYPENAME, &@$, $1, NULL, NULL); }
	| tspecs abstract	{ $$ = mk(lx, N_TYPENAME, &@$, $1, $2, NULL); }
	;

/* ---- translators, providers ---- */

translator
	: TRANSLATOR type_name '<' type_name IDENT '>' '{' xmembers '}' ';'
		{
			$$ = mk_list(lx, N_XLATOR, &@$, $2, $8);
			$$->b = $4;
			$$->name = $5;
		}
	| TRANSLATOR type_name '<' type_name IDENT '>' ';'
		{
			$$ = mk(lx, N_XLATOR, &@$, $2, $4, NULL);
			$$->name = $5;
		}
	;

xmembers
	: %empty		{ $$ = (struct nlist){ 0 }; }
	| xmembers xmember	{ $$ = list_add($1, $2); }
	;

xmember
	: IDENT '=' assign ';'
		{
			$$ = mk(lx, N_XMEMBER, &@$, $3, NULL, NULL);
			$$->name = $1;
		}
	;

provider
	: PROVIDER IDENT '{' probes '}' ';'
		{
			$$ = mk_list(lx, N_PROVIDER, &@$, NULL, $4);
			$$->name = $2;
		}
	;

probes
	: %empty		{ $$ = (struct nlist){ 0 }; }
	| probes probe		{ $$ = list_add($1, $2); }
	;

probe
	: PROBE IDENT '(' params ')' ';'
		{
			$$ = mk_list(lx, N_PROBE, &@$, NULL, $4);
			$$->name = $2;
		}
	| PROBE IDENT '(' params ')' ':' '(' params ')' ';'
		{
			$$ = mk_list(lx, N_PROBE, &@$, NULL, $4);
			$$->name = $2;
			$$->a = mk_list(lx, N_PARAMS, &@8, NULL, $8);
		}
	;

%%

static void
dcc_error(struct span *at, struct lexer *lx, void *scanner, const char *what)
{
	const char *text = lex_text(scanner);

	if (strstr(what, "memory exhausted") != NULL)
		diag_error(lx->c->diags, D_SYNTAX, at,
		    "the program is nested too deeply");
	else if (lx->text[lx->pos] == '\0' && (text == NULL || text[0] == '\0'))
		diag_error(lx->c->diags, D_SYNTAX, at,
		    lx->mode == MODE_CLAUSE ?
			"syntax error near end of input" :
			"syntax error near end-of-input");
	else if (text != NULL && text[0] == '\n')
		diag_error(lx->c->diags, D_SYNTAX, at,
		    "syntax error near end of line");
	else
		diag_error(lx->c->diags, D_SYNTAX, at,
		    "syntax error near \"%s\"", text);
	hint_syntax(lx, text);
}

static void
set_depth(struct lexer *lx, struct node *n)
{
	unsigned d = 0;

	d = n->a != NULL ? MAX(d, n->a->depth) : d;
	d = n->b != NULL ? MAX(d, n->b->depth) : d;
	d = n->c != NULL ? MAX(d, n->c->depth) : d;
	for (struct node *k = n->list; k != NULL; k = k->next)
		d = MAX(d, k->depth);
	n->depth = (uint16_t)MIN(d + 1, DEPTH_MAX);
	if (d + 1 > DEPTH_MAX)
		diag_error(lx->c->diags, D_SYNTAX, &n->span,
		    "the program is nested too deeply");
}

/* Messages name the line the scanner has reached when the node is built, as
 * DTrace's do; the caret stays where the node begins. */
static struct node *
mk(struct lexer *lx, enum node_kind kind, const struct span *at, struct node *a,
    struct node *b, struct node *c)
{
	struct node *n = node_new(&lx->c->cc->arena, kind, at);

	n->span.ahead = lx->line + lx->peeked - at->line;
	n->a = a;
	n->b = b;
	n->c = c;
	set_depth(lx, n);
	return n;
}

static struct node *
mk_op(struct lexer *lx, enum node_kind kind, const struct span *at,
    enum oper op, struct node *a, struct node *b)
{
	struct node *n = mk(lx, kind, at, a, b, NULL);

	n->op = (uint8_t)op;
	return n;
}

static struct node *
mk_name(struct lexer *lx, enum node_kind kind, const struct span *at,
    const char *name)
{
	struct node *n = mk(lx, kind, at, NULL, NULL, NULL);

	n->name = name;
	return n;
}

static struct node *
mk_list(struct lexer *lx, enum node_kind kind, const struct span *at,
    struct node *a, struct nlist list)
{
	struct node *n = node_new(&lx->c->cc->arena, kind, at);

	n->span.ahead = lx->line + lx->peeked - at->line;
	n->a = a;
	n->list = list.head;
	set_depth(lx, n);
	return n;
}

static struct nlist
list_of(struct node *n)
{
	return (struct nlist){ n, n };
}

static struct nlist
list_add(struct nlist l, struct node *n)
{
	nlist_add(&l, n);
	return l;
}

static struct node *
specs_or_new(struct lexer *lx, struct node *specs, const struct span *at)
{
	if (specs == NULL)
		return mk(lx, N_SPECS, at, NULL, NULL, NULL);
	specs->span = *at;
	specs->span.ahead = lx->line - at->line;
	return specs;
}

static struct node *
spec_word(struct lexer *lx, struct node *specs, unsigned w,
    const struct span *at)
{
	struct node *s = specs_or_new(lx, specs, at);

	if (w == W_LONG && (s->value & W_LONG) != 0 &&
	    (s->value & W_LONGLONG) == 0)
		s->value |= W_LONGLONG;
	else if ((s->value & w) != 0 && (w & W_QUALS) == 0)
		s->value |= W_BAD;
	else
		s->value |= w;
	return s;
}

static struct node *
spec_storage(struct lexer *lx, struct node *specs, unsigned class,
    const struct span *at)
{
	struct node *s = specs_or_new(lx, specs, at);

	if (s->flags != 0)
		s->flags |= C_TWICE;
	s->flags |= class;
	return s;
}

static struct node *
spec_tag(struct lexer *lx, struct node *specs, struct node *tag,
    const struct span *at)
{
	struct node *s = specs_or_new(lx, specs, at);

	if ((s->value & W_BAD) != 0)
		return s; /* the first that is too much is the one to name */
	if (s->a != NULL || s->name != NULL)
		s->value |= W_BAD;
	s->a = tag;
	set_depth(lx, s);
	return s;
}

static struct node *
spec_name(struct lexer *lx, struct node *specs, const char *name,
    const struct span *at)
{
	struct node *s = specs_or_new(lx, specs, at);

	if (s->a != NULL || s->name != NULL)
		s->value |= W_BAD;
	s->name = name;
	return s;
}

/* Declarators are kept inside out: the node nearest the root applies last to
 * the base type, so `*x[3]' is POINTER below ARRAY: an array of pointers is
 * DPOINTER(DARRAY(x)).  A new `*' goes inside those already seen. */
static struct node *
point(struct lexer *lx, const struct span *at, struct node *outer)
{
	struct node *p = mk(lx, N_DPOINTER, at, NULL, NULL, NULL);

	if (outer == NULL)
		return p;
	p->depth = (uint16_t)(outer->depth + 1);
	p->c = outer; /* the chain so far; in_pointers() turns it round */
	set_depth(lx, p);
	return p;
}

static struct node *
in_pointers(struct node *pointers, struct node *direct)
{
	struct node *inner = direct;

	/* `pointers' is the last star; each `c' is the one before it. */
	for (struct node *p = pointers; p != NULL;) {
		struct node *before = p->c;
		p->c = NULL;
		p->a = inner;
		p->depth = (uint16_t)(inner->depth + 1);
		inner = p;
		p = before;
	}
	return inner;
}

static const struct node *
declared_name(const struct node *d)
{
	while (d != NULL && d->kind != N_DNAME)
		d = d->a;
	return d;
}

static void
note_typedef(struct lexer *lx, struct node *decl)
{
	if ((decl->a->flags & C_TYPEDEF) == 0)
		return;
	for (struct node *d = decl->list; d != NULL; d = d->next) {
		const struct node *name = declared_name(d);
		if (name != NULL && name->name != NULL)
			hash_set_str(&lx->c->cc->typedefs, name->name, lx->c);
	}
}

static const char *
tag_key(struct lexer *lx, unsigned word, const char *tag)
{
	return arena_printf(
	    &lx->c->cc->arena, "%s %s", oper_text(word), tag);
}

/* A second body is no body: what stands in the braces is something else, and
 * would be complained of as that. */
static void
refuse_twice(
    struct lexer *lx, const struct span *at, unsigned word, const char *tag)
{
	if (hash_get_str(&lx->tags, tag_key(lx, word, tag)) != NULL)
		diag_error(lx->c->diags, D_DECL_TYPERED, at,
		    "type redeclared: %s %s", oper_text(word), tag);
}

static void
refuse_form(struct lexer *lx, const struct span *at, bool pred)
{
	if (pred)
		diag_error(lx->c->diags, D_SYNTAX, at,
		    "expected actions { } following probe description and "
		    "predicate");
	else if (lx->c->in->level == CC_SCRIPT) {
		diag_error(lx->c->diags, D_SYNTAX, at,
		    "expected predicate and/or actions following probe "
		    "description");
		hint_syntax(lx, NULL);
	}
}

int
parse_program(struct comp *c, struct node **out)
{
	struct lexer lx = { .c = c, .text = c->in->source->text, .line = 1,
		.col = 1 };
	void *scanner;

	if (c->in->library)
		lx.where.file = c->in->source->name;
	lx.span = (struct span){ .source = c->in->source, .line = 1, .col = 1 };
	int error = lex_init_scanner(&lx, &scanner);
	if (error != 0)
		return error;
	dcc_parse(&lx, scanner);
	lex_fini_scanner(scanner);
	hash_fini(&lx.tags);
	if (c->diags->any)
		return -EINVAL;
	*out = lx.program;
	return 0;
}
