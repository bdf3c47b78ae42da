// A search function for Calipers in Go: a program that answers JSON lines, or with a port an HTTP
// server.
//
//	go build -o search search.go
//	calipers retrieve cmd:./search questions.csv -k 2 --check
package main

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

var documents = map[string]string{
	"refunds":  "Send the item back within 30 days and you get your money back.",
	"shipping": "Delivery abroad takes one to two weeks.",
	"account":  "Forgot your password? Follow the link where you sign in.",
	"contact":  "Write to us, or call on weekdays from 9 to 5.",
}

type result struct {
	ID    string `json:"id"`
	Score int    `json:"score"`
}

var word = regexp.MustCompile("[a-z]+")

func words(text string) map[string]bool {
	found := map[string]bool{}
	for _, one := range word.FindAllString(strings.ToLower(text), -1) {
		found[one] = true
	}
	return found
}

// search returns the k best documents, the best first. Put a call of your own search here.
func search(query string, k int) []result {
	asked, found := words(query), []result{}
	for id, text := range documents {
		score := 0
		for one := range words(text) {
			if asked[one] {
				score++
			}
		}
		found = append(found, result{id, score})
	}
	sort.Slice(found, func(a, b int) bool {
		if found[a].Score != found[b].Score {
			return found[a].Score > found[b].Score
		}
		return found[a].ID < found[b].ID
	})
	if k < len(found) {
		found = found[:k]
	}
	return found
}

func main() {
	if len(os.Args) > 1 {
		http.HandleFunc("/search", func(response http.ResponseWriter, request *http.Request) {
			k, _ := strconv.Atoi(request.FormValue("k"))
			response.Header().Set("content-type", "application/json")
			json.NewEncoder(response).Encode(search(request.FormValue("q"), k))
		})
		panic(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
	}
	answers := json.NewEncoder(os.Stdout) // a line for each answer, not held back
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var asked struct {
			ID    string
			Query string
			K     int
		}
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			panic(err)
		}
		answers.Encode(map[string]any{"id": asked.ID, "retrieved": search(asked.Query, asked.K)})
	}
}
